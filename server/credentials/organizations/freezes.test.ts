import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestApp } from '../../../testing/app/app.ts';
import { operator } from '../../../testing/app/cells.ts';
import { createTenant } from '../../../testing/app/tenant.ts';
import type { FailureError } from '../../infrastructure/http/errors.ts';
import { isFailure } from '../../infrastructure/runtime/failure.ts';
import { createLog } from '../../infrastructure/runtime/log.ts';
import { createIngest } from '../../webhooks/events/ingest.ts';
import { createEvents } from '../../webhooks/events/service.ts';
import { createFreezes } from './freezes.ts';

const app = await createTestApp();
const { database } = app;
const tenant = await createTenant(app);
const { organizationGuid } = tenant;

/** A node that does not hear of freezes. */
let isUpToDate = () => true;
const deps = {
  ...{ database, log: createLog({ level: 'silent', terminal: false }) },
  changes: { isUpToDate: () => isUpToDate(), onFreeze: () => {} },
};
const freezes = createFreezes(deps);
await app.transfers.freeze(operator, organizationGuid);

test('a node that may have missed a freeze reads the frozen Organizations', async () => {
  isUpToDate = () => true;
  assert.equal(freezes.check(organizationGuid), undefined);
  isUpToDate = () => false;
  assert.equal((await freezes.check(organizationGuid))?.code, 'organization_moving');
  assert.equal(await freezes.check('0'.repeat(32)), undefined);
  const frozen = await freezes.among(new Set([organizationGuid, '0'.repeat(32)]));
  assert.deepEqual([...frozen.keys()], [organizationGuid]);
});

test('checks of many streams at a time share a query', async () => {
  isUpToDate = () => false;
  let reads = 0;
  const counting = new Proxy(database, {
    get: (of, name: keyof typeof database) => {
      if (name !== 'reserved') return of[name];
      return of.reserved.withPlugin({
        transformQuery({ node }) {
          reads += 1;
          return node;
        },
        transformResult: async ({ result }) => result,
      });
    },
  });
  const { check } = createFreezes({ ...deps, database: counting });
  const refusals = await Promise.all(Array.from({ length: 100 }, () => check(organizationGuid)));
  assert.deepEqual(new Set(refusals.map((refusal) => refusal?.code)), new Set(['organization_moving']));
  assert.equal(reads, 1);
});

const events = createEvents({ ...app, counters: { note() {} }, freezes, enqueue: async () => {} });
const { bankGuid, ...event } = {
  ...{ organizationGuid, bankGuid: tenant.bankGuid, eventType: 'transfer.completed' as const },
  ...{ objectGuid: '7'.repeat(32), environment: 'sandbox' as const },
};

test('a call that waited while its node missed a freeze is refused', async () => {
  const ingest = createIngest({ ...app, events, freezes });
  const answers = [true, false];
  isUpToDate = () => answers.shift() ?? false;
  const refused = await ingest.accept([
    {
      ...{ organization_guid: organizationGuid, bank_guid: bankGuid },
      ...{ event_type: event.eventType, object_guid: event.objectGuid },
    },
  ]);
  assert.ok(isFailure(refused));
  assert.equal(refused.code, 'organization_moving');
});

test('a transaction that publishes an event of an Organization whose freeze its node missed fails', async () => {
  isUpToDate = () => false;
  const publishing = database.transaction((transaction) => events.publish(transaction, [event]));
  await assert.rejects(publishing, ({ failure }: FailureError) => failure.code === 'organization_moving');
  isUpToDate = () => true;
  await database.transaction((transaction) => events.publish(transaction, [event]));
});
