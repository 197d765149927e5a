import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { ApiError } from '../../api/api-error.ts';
import type { Query } from '../../api/send.ts';
import { resolveTimes, timeRangeOf } from '../filters/time-range.ts';
import { filenameOf, formatRows, readAll } from './export-list.ts';

const NOW = Date.parse('2026-11-15T12:00:00.000Z');
const SOURCE = { path: '/files', query: { state: 'completed' } };

/** A list of this many rows, by keyset. */
function apiOf(rows: number, answer: (query: Query) => void = () => {}) {
  return {
    async get<Body>(_path: string, { query = {} }: { query?: Query | undefined } = {}): Promise<Body> {
      answer(query);
      const from = Number(query.after ?? 0);
      const until = Math.min(rows, from + Number(query.per_page));
      const objects = Array.from({ length: until - from }, (_, i) => ({ number: from + i }));
      return { objects, ...(until < rows ? { next: String(until) } : {}) } as Body;
    },
  };
}

const read = (api: ReturnType<typeof apiOf>, onProgress: (rows: number) => void = () => {}) =>
  readAll(api, SOURCE, { signal: new AbortController().signal, onProgress });

test('an export reads all pages of the filtered list and tells its progress', async () => {
  const progress: number[] = [];
  const queries: Query[] = [];
  const { rows, isComplete } = await read(
    apiOf(250, (query) => queries.push(query)),
    (count) => progress.push(count),
  );
  assert.deepEqual([rows.length, isComplete, progress], [250, true, [100, 200, 250]]);
  assert.ok(queries.every(({ state, per_page: size }) => state === 'completed' && size === 100));
});

test('an export ends after 10,000 rows', async () => {
  const { rows, isComplete } = await read(apiOf(10_500));
  assert.deepEqual([rows.length, isComplete], [10_000, false]);
});

test('a rate limit delays the next page, and cancelling ends the delay', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  let refusals = 1;
  const limited = apiOf(1, () => {
    if (refusals-- > 0) {
      setImmediate(() => mock.timers.tick(30_000));
      throw new ApiError('Too many', { status: 429, code: 'rate_limit_exceeded', retryAfterSeconds: 30 });
    }
  });
  assert.equal((await read(limited)).rows.length, 1);
  refusals = 1;
  const controller = new AbortController();
  const waiting = apiOf(1, () => {
    setImmediate(() => controller.abort());
    throw new ApiError('Too many', { status: 429, code: 'rate_limit_exceeded' });
  });
  const options = { signal: controller.signal, onProgress: () => {} };
  await assert.rejects(readAll(waiting, SOURCE, options), { name: 'AbortError' });
});

test('CSV has all columns, and formulas as text', async () => {
  const rows = [{ name: '=1+1', tags: ['a'] }, { name: '-1', size: 5 }, { name: '＝1+1' }];
  assert.equal(
    await formatRows(rows, 'csv').text(),
    '"name","tags","size"\r\n"\'=1+1","[""a""]",""\r\n"\'-1","","5"\r\n"\'＝1+1","",""\r\n',
  );
  assert.deepEqual(JSON.parse(await formatRows(rows, 'json').text()), rows);
  assert.equal(filenameOf('Audit entries', 'csv', NOW), 'portico-audit-entries-2026-11-15.csv');
});

test('a preset is resolved with each request, and a range of its own is kept', () => {
  const { from } = timeRangeOf({ time: '24h', from: 'ignored' });
  assert.deepEqual(resolveTimes({ created_at_gte: from, type: 'now-x' }, NOW), {
    created_at_gte: '2026-11-14T12:00:00.000Z',
    type: 'now-x',
  });
  assert.deepEqual(timeRangeOf({ time: 'custom', from: 'a', until: 'b' }), { from: 'a', until: 'b' });
});
