import type { Context } from '../command.ts';
import { columnsOf } from './layout.ts';

const WIDTH = 30;
const MIN_WIDTH = 5;

/** A bar that is drawn again; nothing without a terminal. The line is ended however the work ends. */
export async function withProgress<T>(
  { io, options }: Context,
  unit: (value: number) => string,
  work: (show: (done: number, total: number) => void) => Promise<T>,
): Promise<T> {
  const { stderr } = io;
  const isShown = stderr.isTTY === true && !options.flag('json');
  let last = '';

  function text(done: number, total: number): string {
    const share = total === 0 ? 1 : Math.min(1, done / total);
    const percent = Math.floor(share * 100)
      .toString()
      .padStart(3);
    const rest = ` ${percent} %  ${unit(done)} of ${unit(total)}`;
    // A line that fills the terminal would be drawn below itself.
    const width = Math.max(MIN_WIDTH, Math.min(WIDTH, columnsOf(stderr) - rest.length - 1));
    return '█'.repeat(Math.round(share * width)).padEnd(width, '░') + rest;
  }

  try {
    return await work((done, total) => {
      const next = text(done, total);
      if (isShown && next !== last) stderr.write(`\r${next}\u001b[K`);
      last = next;
    });
  } finally {
    if (isShown && last !== '') stderr.write('\n');
  }
}

export function bytes(value: number): string {
  if (value < 1_024) return `${value} B`;
  return value < 1_048_576 ? `${(value / 1_024).toFixed(1)} KB` : `${(value / 1_048_576).toFixed(1)} MB`;
}
