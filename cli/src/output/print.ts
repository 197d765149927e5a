import type { Context } from '../command.ts';
import type { Output } from '../io.ts';
import { columnsOf, GAP, layOut, wrap } from './layout.ts';
import { printable, printableJson, styleFor } from './style.ts';

/** Any object of the API, as far as its fields are printed. */
export type Item = Readonly<Record<string, unknown>>;
export type Column = {
  title: string;
  value: (item: Item) => unknown;
  /** A shorter form for people; pipes get the value as it is. */
  shown?: (value: unknown) => unknown;
  /** Of most values, for output that goes on and for rows of several lines. */
  width?: number;
};

export function field(title: string, name = title.toLowerCase().replaceAll(' ', '_')): Column {
  return { title, value: (item) => item[name] };
}

/** On a terminal without milliseconds. */
export function timeField(title: string): Column {
  return { ...field(title), shown: (value) => String(value ?? '').replace(/\.\d+Z$/, 'Z') };
}

export const EVENT_TYPE: Column = { ...field('Event type'), width: 31 };

/** Of the last attempt of a delivery: the status, or why there was no complete answer. */
export const RESULT: Column = {
  title: 'Status',
  value: ({ failure_kind, response_status }) =>
    failure_kind === 'rejected' ? response_status : (failure_kind ?? response_status),
};

/** A table on a terminal, tab-separated values in a pipe, one document with `--json`. */
export function printList(
  { io, options }: Context,
  items: readonly Item[],
  columns: readonly Column[],
  empty: string,
): void {
  const { stdout } = io;
  if (options.flag('json')) return void stdout.write(`${printableJson(items, 2)}\n`);
  const rows = items.map((item) => cellsOf(item, columns, stdout.isTTY));
  if (!stdout.isTTY) return void stdout.write(rows.map((row) => `${row.join('\t')}\n`).join(''));
  if (rows.length === 0) return void stdout.write(`${empty}\n`);
  const titles = columns.map(({ title }) => title.toUpperCase());
  const whole = titles.map((title, index) =>
    Math.max(title.length, ...rows.map((row) => row[index]?.length ?? 0)),
  );
  const fits = layOut(titles, whole, columnsOf(stdout)).length === 1;
  const widths = fits ? whole : whole.map((width, index) => Math.min(width, columns[index]?.width ?? width));
  const { bold, dim } = styleFor(stdout, io);
  const lines = rows.flatMap((row) => rowLines(row, widths, columnsOf(stdout), dim));
  const head = layOut(titles, widths, columnsOf(stdout)).map(bold);
  stdout.write([...head, ...lines, ''].join('\n'));
}

/** The fields of one object, one per line. */
export function printObject({ io, options }: Context, item: Item): void {
  const { stdout } = io;
  if (options.flag('json')) return void stdout.write(`${printableJson(item, 2)}\n`);
  const entries = Object.entries(item).filter(([, value]) => value !== undefined);
  const width = Math.max(0, ...entries.map(([name]) => name.length));
  const { dim } = styleFor(stdout, io);
  stdout.write(
    entries
      .map(([name, value]) => `${stdout.isTTY ? dim(name.padEnd(width)) + GAP : `${name}\t`}${cell(value)}\n`)
      .join(''),
  );
}

/** Prints the objects of an output that goes on; on a terminal below titles. */
export function createLines({ io, options }: Context, columns: readonly Column[]) {
  const { stdout } = io;
  const widths = columns.map(({ width = 0, title }) => Math.max(width, title.length));
  const { bold, dim } = styleFor(stdout, io);
  let isFirst = true;
  return function printLine(item: Item): void {
    if (options.flag('json')) return void stdout.write(`${printableJson(item)}\n`);
    const cells = cellsOf(item, columns, stdout.isTTY);
    if (!stdout.isTTY) return void stdout.write(`${cells.join('\t').trimEnd()}\n`);
    const titles = columns.map(({ title }) => title.toUpperCase());
    const head = isFirst ? layOut(titles, widths, columnsOf(stdout)).map(bold) : [];
    isFirst = false;
    stdout.write([...head, ...rowLines(cells, widths, columnsOf(stdout), dim), ''].join('\n'));
  };
}

function rowLines(
  row: readonly string[],
  widths: readonly number[],
  columns: number,
  dim: (text: string) => string,
): string[] {
  return layOut(row, widths, columns).map((line, index) => (index === 0 ? line : dim(line)));
}

function cellsOf(item: Item, columns: readonly Column[], isTerminal = false): string[] {
  return columns.map(({ value, shown }) => cell(isTerminal && shown ? shown(value(item)) : value(item)));
}

/** For people: nothing with `--json`. */
export function say({ io, options }: Context, text: string): void {
  if (!options.flag('json')) io.stderr.write(`${paragraphs(text, io.stderr)}\n`);
}

/** Lines of a text, broken between words on a terminal. */
export function paragraphs(text: string, output: Output): string {
  const columns = output.isTTY ? columnsOf(output) : Number.POSITIVE_INFINITY;
  return text
    .split('\n')
    .flatMap((line) => wrap(printable(line), columns))
    .join('\n');
}

/** On standard error, also with `--json`. */
export function warn({ io, options }: Context, text: string): void {
  const { yellow } = styleFor(io.stderr, io);
  if (options.flag('json')) io.stderr.write(`${printableJson({ warning: text })}\n`);
  else io.stderr.write(`${paragraphs(`Warning: ${text}`, io.stderr).replace('Warning:', yellow)}\n`);
}

function cell(value: unknown): string {
  if (value === undefined || value === null) return '';
  return printable(typeof value === 'object' ? JSON.stringify(value) : String(value));
}
