import styles from './BarChart.module.css';
import type { Series } from './geometry.ts';

export function Legend({ series, unit }: { series: readonly Series[]; unit: string }) {
  return (
    <ul className={styles.legend}>
      {series.map(({ name, tone, values }) => (
        <li key={name} className={styles.entry}>
          <span className={styles.swatch} data-tone={tone} />
          {name}
          <strong className={styles.total}>
            {values.reduce((sum, value) => sum + value, 0).toLocaleString('en')}
          </strong>
        </li>
      ))}
      <li className={styles.unit}>{unit}</li>
    </ul>
  );
}
