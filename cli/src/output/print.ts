import type { Context } from '../command.ts';
import { printable, printableJson, styleFor } from './style.ts';

/** Any object of the API, as far as its fields are printed. */
export type Item = Readonly<Record<string, unknown>>;
export type Column = { title: string; value: (item: Item) => unknown };

const GAP = '  ';

export function field(title: string, name = title.toLowerCase().replaceAll(' ', '_')): Column {
  return { title, value: (item) => item[name] };
}

/** A table on a terminal, tab-separated values in a pipe, one document with `--json`. */
export function printList(
  { io, options }: Context,
  items: readonly Item[],
  columns: readonly Column[],
  empty: string,
): void {
  const { stdout } = io;
  if (options.flag('json')) return void stdout.write(`${printableJson(items, 2)}\n`);
  const rows = items.map((item) => columns.map(({ value }) => cell(value(item))));
  if (!stdout.isTTY) return void stdout.write(rows.map((row) => `${row.join('\t')}\n`).join(''));
  if (rows.length === 0) return void stdout.write(`${empty}\n`);
  const titles = columns.map(({ title }) => title.toUpperCase());
  const widths = titles.map((title, index) =>
    Math.max(title.length, ...rows.map((row) => row[index]?.length ?? 0)),
  );
  const line = (row: readonly string[]) =>
    row
      .map((text, index) => text.padEnd(widths[index] ?? 0))
      .join(GAP)
      .trimEnd();
  const { bold } = styleFor(stdout, io);
  stdout.write([bold(line(titles)), ...rows.map(line), ''].join('\n'));
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

/** One object of an output that goes on. */
export function printLine(
  { io, options }: Context,
  item: Item,
  columns: readonly (Column & { width: number })[],
): void {
  if (options.flag('json')) return void io.stdout.write(`${printableJson(item)}\n`);
  const cells = columns.map(({ value, width }) =>
    io.stdout.isTTY ? cell(value(item)).padEnd(width) : cell(value(item)),
  );
  io.stdout.write(`${cells.join(io.stdout.isTTY ? GAP : '\t').trimEnd()}\n`);
}

/** For people: nothing with `--json`. */
export function say({ io, options }: Context, text: string): void {
  if (!options.flag('json')) io.stderr.write(`${text.split('\n').map(printable).join('\n')}\n`);
}

function cell(value: unknown): string {
  if (value === undefined || value === null) return '';
  return printable(typeof value === 'object' ? JSON.stringify(value) : String(value));
}
