import type { Figure } from './benchmark.ts';
import { type FigureName, TARGETS, type Target, type Verdict, verdictOf } from './targets.ts';

/** One line of the table. A benchmark that did not finish has one line with its error. */
export type Line = {
  name: string;
  value?: number;
  unit?: string;
  must?: number;
  aim?: number;
  better?: Target['better'];
  verdict: Verdict | 'failed';
  error?: string;
  details?: Figure['details'];
};

export function lineOf({ name, value, details }: Figure): Line {
  const target: Target = TARGETS[name];
  const line = { name, value, ...target, verdict: verdictOf(target, value) };
  return details ? { ...line, details } : line;
}

/** Figures that a benchmark has to return. */
export function figuresOf(benchmark: string): FigureName[] {
  return (Object.keys(TARGETS) as FigureName[]).filter((name) => name.split(' ', 1)[0] === benchmark);
}

export function isReached({ verdict }: Line): boolean {
  return verdict !== 'missed' && verdict !== 'failed';
}

const HEAD = ['benchmark', 'figure', 'must', 'aim', 'verdict'];

export function tableOf(lines: readonly Line[]): string {
  const rows = [HEAD, ...lines.map(cellsOf)];
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function cellsOf({ name, value, unit, must, aim, better, verdict, error }: Line): string[] {
  const goal = (limit: number | undefined) =>
    limit === undefined ? '' : `${better === 'lower' ? '≤' : '≥'} ${textOf(limit, unit)}`;
  const text = value === undefined ? '' : textOf(value, unit);
  return [
    name,
    text,
    goal(must),
    goal(aim),
    error ? `${verdict.toUpperCase()}: ${error}` : emphasized(verdict),
  ];
}

function emphasized(verdict: Line['verdict']): string {
  return verdict === 'missed' ? 'MISSED' : verdict;
}

function textOf(value: number, unit: string | undefined): string {
  if (unit === undefined) return value.toFixed(2);
  return `${unit === 'ms' ? value.toFixed(1) : Math.round(value)} ${unit}`;
}
