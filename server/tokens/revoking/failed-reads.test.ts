import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, test } from 'node:test';
import { createTestApp } from '../../../testing/app/app.ts';
import type { Notifications } from '../../infrastructure/database/connections/notifications.ts';
import { createLog } from '../../infrastructure/runtime/log.ts';
import { createRevocations } from './revocations.ts';

const { database, clock } = await createTestApp();

/** A node whose notifications arrive at once. */
function createNode() {
  let wake = (): void => {};
  const notifications = {
    async listen(_: string, handler: () => void) {
      wake = handler;
    },
    notify: async () => wake(),
  } as unknown as Notifications;
  return createRevocations({
    ...{ database, notifications, clock, log: createLog({ level: 'silent', terminal: false }) },
    guids: { next: () => randomBytes(16).toString('hex') },
  });
}

test('a node that could not read the frozen Organizations reads them again before it confirms a freeze', async () => {
  const revocations = createNode();
  let reads = 0;
  let failures = 0;
  revocations.onFreeze(async () => {
    if (failures > 0) {
      failures -= 1;
      throw new Error('statement timeout');
    }
    reads += 1;
  });
  await revocations.start();
  after(() => revocations.stop());
  const before = reads;
  failures = 1;
  const revision = await database.transaction((transaction) =>
    revocations.revoke(transaction, 'freeze', randomBytes(16).toString('hex')),
  );
  await revocations.propagate(revision);
  assert.equal(failures, 0);
  assert.equal(reads, before + 1);
});
