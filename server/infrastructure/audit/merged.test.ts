import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClock } from '../../../testing/app/fake-clock.ts';
import { createLog } from '../runtime/log.ts';
import { createMergedRecords } from './merged.ts';
import type { Change } from './service.ts';

/** Records in memory; `written` has their counts. */
function mergedRecords() {
  const clock = createFakeClock();
  const written: number[] = [];
  const database = { isAway: false };
  const { note, flush } = createMergedRecords({
    database: {
      async transaction(work: (transaction: unknown) => unknown) {
        if (database.isAway) throw new Error('connection lost');
        return work(undefined);
      },
    } as never,
    audit: {
      record: async (_transaction: unknown, _actor: unknown, { changes }: Change) =>
        written.push(Number(changes?.times)),
    } as never,
    clock,
    log: createLog({ level: 'silent', terminal: false }),
  });
  const deny = ({ group = 'group', source = 'source' } = {}) =>
    note({
      ...{ group, source, organizationGuids: [] },
      actor: { type: 'anonymous', id: 'anonymous' },
      change: { action: 'authentication.fail', objectType: 'application', objectId: source, changes: {} },
    });
  return { clock, written, database, deny, flush };
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

test('a count that could not be written is written later (seed 7 of the simulation)', async () => {
  const { written, database, deny, flush } = mergedRecords();
  database.isAway = true;
  deny();
  deny();
  await flush();
  database.isAway = false;
  await flush({ all: true });
  assert.equal(sum(written), 2);
});

test('a count is written after a minute, or when the clock was set back', async () => {
  for (const ms of [60_000, -86_400_000]) {
    const { clock, written, deny, flush } = mergedRecords();
    deny();
    deny();
    await flush();
    assert.deepEqual(written, [1]);
    clock.set(new Date(clock.now().getTime() + ms));
    await flush();
    assert.deepEqual(written, [1, 1]);
  }
});

test('a flood of new names writes a bounded number of records, whose counts add up', async () => {
  const { written, deny, flush } = mergedRecords();
  for (let index = 0; index < 50_000; index++)
    deny({ group: `group ${index % 25_000}`, source: `source ${index}` });
  await flush({ all: true });
  assert.ok(written.length <= 2_002, `${written.length} records`);
  assert.equal(sum(written), 50_000);
});
