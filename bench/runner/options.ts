import { parseArgs } from 'node:util';

export type Options = {
  names: readonly string[];
  isTrial: boolean;
  historyRows: number;
  jsonFile: string;
};

const HISTORY_ROWS = 5_000_000;
const TRIAL_HISTORY_ROWS = 100_000;

const USAGE = `Usage: npm run bench -- [benchmark ...] [options]

  --quick            small sizes and one round, to try the programs out; the figures mean nothing
  --history <rows>   deliveries of the large history (5,000,000; 100,000 with --quick)
  --json <file>      where the figures are written (bench/results/<time>.json)
  --list             list the benchmarks
`;

/** Returns the text to print instead when nothing is to be run: the usage, the list or a mistake. */
export function readOptions(
  args: readonly string[],
  known: readonly string[],
  startedAt: Date,
): Options | { text: string; exitCode: number } {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        quick: { type: 'boolean', default: false },
        history: { type: 'string' },
        json: { type: 'string' },
        list: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    if (values.help) return { text: USAGE, exitCode: 0 };
    if (values.list) return { text: `${known.join('\n')}\n`, exitCode: 0 };
    const unknown = positionals.find((name) => !known.includes(name));
    if (unknown !== undefined)
      throw new Error(`There is no benchmark ${unknown}. Known: ${known.join(', ')}`);
    const historyRows = Number(values.history ?? (values.quick ? TRIAL_HISTORY_ROWS : HISTORY_ROWS));
    if (!Number.isInteger(historyRows) || historyRows < 1)
      throw new Error('--history must be a number of deliveries, for example 100000');
    return {
      names: known.filter((name) => positionals.length === 0 || positionals.includes(name)),
      isTrial: values.quick,
      historyRows,
      jsonFile: values.json ?? `bench/results/${startedAt.toISOString().replaceAll(':', '-')}.json`,
    };
  } catch (error) {
    return { text: `${(error as Error).message}\n\n${USAGE}`, exitCode: 1 };
  }
}
