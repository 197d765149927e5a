import styles from './BarChart.module.css';
import { type Geometry, HEIGHT_PX } from './geometry.ts';
import { countLabel, timeLabel } from './labels.ts';
import { timeTicks } from './ticks.ts';

const LABEL_GAP_PX = 8;

export function Axes({ geometry, from, to }: { geometry: Geometry; from: number; to: number }) {
  const { left, right, bottom, plotPx, ticks, yOf } = geometry;
  const xOf = (date: Date) => left + ((date.getTime() - from) / (to - from)) * plotPx;
  return (
    <>
      {ticks.map((tick) => (
        <g key={tick}>
          <line
            className={styles.line}
            data-base={tick === 0 || undefined}
            x1={left}
            x2={right}
            y1={yOf(tick)}
            y2={yOf(tick)}
          />
          <text className={styles.label} x={left - LABEL_GAP_PX} y={yOf(tick)} dy="0.32em" textAnchor="end">
            {countLabel(tick)}
          </text>
        </g>
      ))}
      {timeTicks(from, to, plotPx).map((date) => (
        <g key={date.getTime()}>
          <line className={styles.mark} x1={xOf(date)} x2={xOf(date)} y1={bottom} y2={bottom + 4} />
          <text className={styles.label} x={xOf(date)} y={HEIGHT_PX - LABEL_GAP_PX} textAnchor="middle">
            {timeLabel(date)}
          </text>
        </g>
      ))}
    </>
  );
}
