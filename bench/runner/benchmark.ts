import type { FigureName } from './targets.ts';

export type Figure = {
  name: FigureName;
  value: number;
  /** Absolute values behind a ratio, for the JSON file. */
  details?: Readonly<Record<string, number>>;
};

export type Context = {
  /** Everything that a benchmark starts; ended after it, also when it fails or exceeds its time limit. */
  resources: AsyncDisposableStack;
  /** Smaller in a trial run. */
  size(full: number): number;
  /** One in a trial run. */
  rounds(full: number): number;
  /** Deliveries of the large history. */
  historyRows: number;
  progress(text: string): void;
};

export type Benchmark = {
  about: string;
  /** After this time the benchmark fails. */
  limitMinutes: number;
  run(context: Context): Promise<Figure[]>;
};
