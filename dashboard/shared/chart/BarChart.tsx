import { useElementSize } from '@mantine/hooks';
import { type KeyboardEvent, type PointerEvent, useState } from 'react';
import { Axes } from './Axes.tsx';
import styles from './BarChart.module.css';
import { ChartTooltip } from './ChartTooltip.tsx';
import { barsPath, geometryOf, HEIGHT_PX, type Series } from './geometry.ts';
import { Legend } from './Legend.tsx';
import { stepLabel, unitLabel } from './labels.ts';

const KEYS: Record<string, (step: number, last: number) => number> = {
  ArrowLeft: (step) => step - 1,
  ArrowDown: (step) => step - 1,
  ArrowRight: (step) => step + 1,
  ArrowUp: (step) => step + 1,
  Home: () => 0,
  End: (_, last) => last,
};

/** Counts over time, stacked. Pointer and arrow keys read one step after the other; so do screen readers, as a slider. */
export function BarChart({
  label,
  from,
  stepSeconds,
  series,
  empty,
}: {
  label: string;
  /** Where the first step begins. */
  from: string;
  stepSeconds: number;
  series: readonly Series[];
  empty: string;
}) {
  const { ref, width } = useElementSize<HTMLDivElement>();
  const [read, setRead] = useState<number>();
  const last = (series[0]?.values.length ?? 1) - 1;
  const step = read === undefined ? undefined : Math.min(last, read);
  const geometry = geometryOf(width, series);
  const begin = Date.parse(from);
  const beginOf = (each: number) => begin + each * stepSeconds * 1_000;
  const isEmpty = series.every(({ values }) => values.every((value) => value === 0));

  function follow({ currentTarget, clientX }: PointerEvent<HTMLDivElement>): void {
    const x = clientX - currentTarget.getBoundingClientRect().left - geometry.left;
    setRead(Math.max(0, Math.min(last, Math.floor(x / geometry.stepPx))));
  }

  function turn(event: KeyboardEvent): void {
    if (event.key === 'Escape') setRead(undefined);
    const move = KEYS[event.key];
    if (!move) return;
    event.preventDefault();
    setRead(Math.max(0, Math.min(last, move(step ?? last, last))));
  }

  const spoken = series.map(({ name, values }) => `${name} ${values[step ?? last] ?? 0}`).join(', ');
  return (
    <figure className={styles.chart} aria-label={label}>
      <Legend series={series} unit={unitLabel(stepSeconds)} />
      <div
        ref={ref}
        className={styles.plot}
        role="slider"
        tabIndex={0}
        aria-label={`${label} ${unitLabel(stepSeconds)}`}
        aria-valuemin={0}
        aria-valuemax={last}
        aria-valuenow={step ?? last}
        aria-valuetext={`${stepLabel(beginOf(step ?? last), stepSeconds)}: ${spoken}`}
        onPointerMove={follow}
        onPointerDown={follow}
        onPointerLeave={() => setRead(undefined)}
        onFocus={({ currentTarget }) => currentTarget.matches(':focus-visible') && setRead(last)}
        onBlur={() => setRead(undefined)}
        onKeyDown={turn}
      >
        {width > 0 ? (
          <svg width={width} height={HEIGHT_PX} aria-hidden="true" focusable="false">
            {step === undefined ? null : (
              <rect
                className={styles.cursor}
                x={geometry.xOf(step)}
                y={0}
                width={geometry.stepPx}
                height={geometry.bottom}
              />
            )}
            <Axes geometry={geometry} from={begin} to={beginOf(last + 1)} />
            {series.map(({ name, tone }, index) => (
              <path
                key={name}
                className={styles.bars}
                data-tone={tone}
                d={barsPath(geometry, series, index)}
              />
            ))}
          </svg>
        ) : null}
        {step === undefined ? null : (
          <ChartTooltip
            geometry={geometry}
            series={series}
            step={step}
            at={beginOf(step)}
            stepSeconds={stepSeconds}
          />
        )}
        {isEmpty && step === undefined ? <div className={styles.empty}>{empty}</div> : null}
      </div>
    </figure>
  );
}
