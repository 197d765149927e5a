import type { Output } from '../io.ts';

const DEFAULT_COLUMNS = 80;
const MIN_COLUMNS = 20;
export const GAP = '  ';
/** Of the further lines of a row. */
const INDENT = '  ';

/** A terminal of unknown size, as of a container or a program, reports 0. */
export function columnsOf({ columns }: Output): number {
  return Math.max(MIN_COLUMNS, columns || DEFAULT_COLUMNS);
}

/**
 * Lays cells out side by side in as many lines as the terminal needs, so that no line is broken in a guid. Rows with the
 * same widths have their cells below each other.
 */
export function layOut(cells: readonly string[], widths: readonly number[], columns: number): string[] {
  const lines: string[] = [];
  let line = '';
  let used = 0;
  for (const [index, cell] of cells.entries()) {
    const width = widths[index] ?? 0;
    if (used > 0 && used + GAP.length + width > columns) {
      lines.push(line.trimEnd());
      [line, used] = [INDENT, INDENT.length];
    } else if (used > 0) {
      line += GAP;
      used += GAP.length;
    }
    line += cell.padEnd(width);
    used += width;
  }
  return [...lines, line.trimEnd()];
}

/** Breaks a text between words. A word that is longer than a line stays whole. */
export function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > columns) {
      lines.push(line);
      line = word;
    } else line += line === '' ? word : ` ${word}`;
  }
  return [...lines, line];
}

/** A text after a first column of this width; its further lines begin below its first. */
export function beside(first: string, width: number, text: string, columns: number): string {
  const [head = '', ...rest] = wrap(text, Math.max(MIN_COLUMNS, columns - width));
  return [`${first}${head}`.trimEnd(), ...rest.map((line) => `${' '.repeat(width)}${line}`)].join('\n');
}
