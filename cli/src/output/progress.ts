import type { Context } from '../command.ts';

const WIDTH = 30;

/** A bar on a terminal that is drawn again; without one nothing but the last line. */
export function createProgress({ io, options }: Context, unit: (value: number) => string = String) {
  const { stderr } = io;
  const isShown = stderr.isTTY === true && !options.flag('json');
  let last = '';

  function text(done: number, total: number): string {
    const share = total === 0 ? 1 : Math.min(1, done / total);
    const bar = '█'.repeat(Math.round(share * WIDTH)).padEnd(WIDTH, '░');
    return `${bar} ${Math.floor(share * 100)
      .toString()
      .padStart(3)} %  ${unit(done)} of ${unit(total)}`;
  }

  return {
    show(done: number, total: number): void {
      const next = text(done, total);
      if (isShown && next !== last) stderr.write(`\r${next}\u001b[K`);
      last = next;
    },
    end(): void {
      if (isShown && last !== '') stderr.write('\n');
    },
  };
}

export function bytes(value: number): string {
  if (value < 1_024) return `${value} B`;
  return value < 1_048_576 ? `${(value / 1_024).toFixed(1)} KB` : `${(value / 1_048_576).toFixed(1)} MB`;
}
