import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from '../command.ts';
import { field, type Item, printLine } from '../output/print.ts';
import { countOf } from '../values.ts';
import { listOf, present } from './events.ts';

const POLL_EVERY_MS = 2_000;
const DEFAULT_SHOWN = '20';
const MAX_SHOWN = 100;
/** Calls are logged in batches a few seconds after their answer, so recent ones are read again. */
const OVERLAP_MS = 30_000;
const MAX_REMEMBERED = 10_000;

const COLUMNS = [
  { ...field('Created at'), width: 24 },
  { ...field('Status'), width: 3 },
  { ...field('Method'), width: 6 },
  { ...field('Path'), width: 40 },
  { ...field('Duration', 'duration_ms'), width: 6 },
  { ...field('Request id'), width: 32 },
  field('Message code'),
].map((column) => ({ width: 0, ...column }));

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
    const filters = present({ status: listOf(options.text('status')), path: options.text('path') });
    const seen = new Set<unknown>();
    let since: string | undefined;
    for (let limit = lines; !signal.aborted; limit = MAX_REMEMBERED) {
      const askedAt = io.now();
      const calls: Item[] = await log
        .list(present({ ...filters, created_at_gte: since }), { signal })
        .toArray({ limit })
        .catch((error) => {
          if (signal.aborted) return [];
          throw error;
        });
      for (const call of calls.reverse()) {
        if (!seen.has(call.request_id)) printLine(context, call, COLUMNS);
        seen.add(call.request_id);
      }
      for (const id of seen) {
        if (seen.size <= MAX_REMEMBERED) break;
        seen.delete(id);
      }
      if (options.flag('no-follow')) return;
      since = new Date(askedAt - OVERLAP_MS).toISOString();
      await delay(POLL_EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  },
};
