import styles from './BarChart.module.css';
import type { Geometry, Series } from './geometry.ts';
import { averageLabel, stepLabel } from './labels.ts';

const MINUTE_SECONDS = 60;
const CURSOR_GAP_PX = 10;

/** Placed on the side with more space, so that it never covers the active step. */
export function ChartTooltip({
  geometry,
  series,
  step,
  at,
  stepSeconds,
}: {
  geometry: Geometry;
  series: readonly Series[];
  step: number;
  at: number;
  stepSeconds: number;
}) {
  const { xOf, left, plotPx, right } = geometry;
  const isOnLeft = xOf(step) - left < plotPx / 2;
  const isCurrent = step === (series[0]?.values.length ?? 0) - 1;
  const position = isOnLeft
    ? { left: xOf(step + 1) + CURSOR_GAP_PX }
    : { right: right - xOf(step) + CURSOR_GAP_PX };
  return (
    <div className={styles.tooltip} style={position}>
      <div className={styles.when}>
        {stepLabel(at, stepSeconds)}
        {isCurrent ? ' (so far)' : null}
      </div>
      {series.map(({ name, tone, values }) => (
        <div key={name} className={styles.entry}>
          <span className={styles.swatch} data-tone={tone} />
          {name}
          <strong className={styles.value}>{(values[step] ?? 0).toLocaleString('en')}</strong>
          {stepSeconds > MINUTE_SECONDS && !isCurrent ? (
            <span className={styles.average}>{averageLabel(values[step] ?? 0, stepSeconds)}</span>
          ) : null}
        </div>
      ))}
    </div>
  );
}
