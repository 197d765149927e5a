import { useElementSize } from '@mantine/hooks';
import {
  type KeyboardEvent,
  type MouseEvent,
  type PointerEvent,
  type ReactNode,
  useRef,
  useState,
} from 'react';
import { Axes } from './Axes.tsx';
import styles from './BarChart.module.css';
import { ChartTooltip } from './ChartTooltip.tsx';
import { barsPath, geometryOf, HEIGHT_PX, type Series } from './geometry.ts';
import { Legend } from './Legend.tsx';
import { stepLabel, unitLabel } from './labels.ts';

/** `leftPx` is the distance of the axis from the left edge. */
export type TimeAxis = { leftPx: number; from: number; to: number };

const KEYS: Record<string, (step: number, last: number) => number> = {
  ArrowLeft: (step) => step - 1,
  ArrowDown: (step) => step - 1,
  ArrowRight: (step) => step + 1,
  ArrowUp: (step) => step + 1,
  Home: () => 0,
  End: (_, last) => last,
};

/** Stacked counts over time. Exposed as a slider, so that keyboard and screen reader users can read every step. */
export function BarChart({
  label,
  from,
  stepSeconds,
  series,
  empty,
  onOpen,
  above,
}: {
  label: string;
  /** Start of the first step. */
  from: string;
  stepSeconds: number;
  series: readonly Series[];
  empty: string;
  /** Shows what a step counted: on a click, Enter, or a second tap on the same step. */
  onOpen?: ((from: Date, to: Date) => void) | undefined;
  /** Drawn over the plot, on its time axis. */
  above?: ((axis: TimeAxis) => ReactNode) | undefined;
}) {
  const { ref, width } = useElementSize<HTMLDivElement>();
  const [active, setActive] = useState<number>();
  const tapped = useRef<number>(undefined);
  const last = (series[0]?.values.length ?? 1) - 1;
  const step = active === undefined ? undefined : Math.min(last, active);
  const geometry = geometryOf(width, series);
  const start = Date.parse(from);
  const startOf = (each: number) => start + each * stepSeconds * 1_000;
  const isEmpty = series.every(({ values }) => values.every((value) => value === 0));

  function handlePointer({ currentTarget, clientX }: PointerEvent<HTMLDivElement>): void {
    const x = clientX - currentTarget.getBoundingClientRect().left - geometry.left;
    setActive(Math.max(0, Math.min(last, Math.floor(x / geometry.stepPx))));
  }

  function open(each: number): void {
    onOpen?.(new Date(startOf(each)), new Date(startOf(each + 1)));
  }

  function handleClick({ nativeEvent }: MouseEvent): void {
    if (step === undefined) return;
    const isFirstTap =
      (nativeEvent as globalThis.PointerEvent).pointerType === 'touch' && tapped.current !== step;
    tapped.current = step;
    if (!isFirstTap) open(step);
  }

  function handleKey(event: KeyboardEvent): void {
    if (event.key === 'Escape') setActive(undefined);
    if (event.key === 'Enter') open(step ?? last);
    const move = KEYS[event.key];
    if (!move) return;
    event.preventDefault();
    setActive(Math.max(0, Math.min(last, move(step ?? last, last))));
  }

  const valueText = series.map(({ name, values }) => `${name} ${values[step ?? last] ?? 0}`).join(', ');
  return (
    <figure className={styles.chart} aria-label={label}>
      <Legend series={series} unit={unitLabel(stepSeconds)} />
      {above?.({ leftPx: geometry.left, from: start, to: startOf(last + 1) })}
      <div
        ref={ref}
        className={styles.plot}
        role="slider"
        tabIndex={0}
        aria-label={`${label} ${unitLabel(stepSeconds)}`}
        aria-valuemin={0}
        aria-valuemax={last}
        aria-valuenow={step ?? last}
        aria-valuetext={`${stepLabel(startOf(step ?? last), stepSeconds)}: ${valueText}`}
        onPointerMove={handlePointer}
        onPointerDown={handlePointer}
        onPointerLeave={() => setActive(undefined)}
        onFocus={({ currentTarget }) => currentTarget.matches(':focus-visible') && setActive(last)}
        onBlur={() => setActive(undefined)}
        onKeyDown={handleKey}
        {...(onOpen ? { onClick: handleClick, 'data-opens': true } : {})}
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
            <Axes geometry={geometry} from={start} to={startOf(last + 1)} />
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
            at={startOf(step)}
            stepSeconds={stepSeconds}
          />
        )}
        {isEmpty && step === undefined ? <div className={styles.empty}>{empty}</div> : null}
      </div>
    </figure>
  );
}
