import type { Command } from '../command.ts';
import { createLines, field, type Item, timeField } from '../output/print.ts';
import { forgetOldest, poll, untilInterrupted } from '../polling.ts';
import { countOf } from '../values.ts';
import { listOf } from './events.ts';

const POLL_EVERY_MS = 2_000;
const DEFAULT_SHOWN = '20';
const MAX_SHOWN = 100;
/** Calls are logged in batches a few seconds after their answer, so recent ones are read again. */
const OVERLAP_MS = 30_000;
const MAX_REMEMBERED = 10_000;
const OK = 200;

const COLUMNS = [
  { ...timeField('Created at'), width: 20 },
  { ...field('Status'), width: 3 },
  { ...field('Method'), width: 6 },
  { ...field('Path'), width: 36 },
  { ...field('ms', 'duration_ms'), width: 4 },
  { ...field('Request id'), width: 32 },
  { ...field('Message code'), width: 20 },
];

export const tailLogs: Command = {
  name: 'logs tail',
  summary: 'Print your calls to the API with status and request id, as they are logged.',
  options: {
    status: { value: 'statuses', description: 'statuses such as 404, or classes such as 4xx,5xx' },
    path: { value: 'pattern', description: 'for example /api/transfers/{guid}' },
    lines: {
      value: 'count',
      description: `earlier calls to print first, at most ${MAX_SHOWN} (${DEFAULT_SHOWN})`,
    },
    'no-follow': { description: 'print earlier calls only' },
  },
  examples: ['portico logs tail --status 4xx,5xx', 'portico logs tail --lines 100 --no-follow --json'],
  async run(context) {
    const { io, options } = context;
    const { signal } = io;
    const lines = countOf('lines', options.text('lines') ?? DEFAULT_SHOWN, MAX_SHOWN);
    const { withScopes } = await context.session();
    const log = withScopes('bank_applications:read').requestLog;
    const filters = { status: listOf(options.text('status')), path: options.text('path') };
    const seen = new Set<unknown>();
    const printLine = createLines(context, COLUMNS);
    const follows = !options.flag('no-follow');
    /** By the clock of the service. The calls before the first that were printed are not wanted. */
    let [newest, first] = ['', ''];
    let isFirst = true;

    async function printNew(): Promise<undefined> {
      const since = newest && laterOf(first, new Date(Date.parse(newest) - OVERLAP_MS).toISOString());
      const calls: Item[] = await log
        .list({ ...filters, created_at_gte: since || undefined }, { signal })
        .toArray({ limit: isFirst ? lines : MAX_REMEMBERED });
      isFirst = false;
      first ||= String(calls.at(-1)?.created_at ?? '');
      for (const call of calls.reverse()) {
        if (!seen.has(call.request_id) && !(follows && isOwnPoll(call))) printLine(call);
        seen.add(call.request_id);
        newest = laterOf(newest, String(call.created_at));
      }
      forgetOldest(seen, MAX_REMEMBERED);
    }

    // A script needs the exit code if the service is away.
    if (!follows) return printNew();
    await untilInterrupted(context, () => poll(context, POLL_EVERY_MS, printNew));
  },
};

const laterOf = (one: string, other: string) => (one > other ? one : other);

/** Successful reads of the log are by this command or the dashboard, and would be printed for ever. */
function isOwnPoll({ path, status }: Item): boolean {
  return path === '/api/request_log' && status === OK;
}
