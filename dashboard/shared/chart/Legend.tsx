import styles from './BarChart.module.css';
import type { Series } from './geometry.ts';

/** What the colours are, and how much of each there was in the time shown. */
export function Legend({ series }: { series: readonly Series[] }) {
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
    </ul>
  );
}
