import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestApp } from '../../../testing/app/app.ts';
import { createTenant } from '../../../testing/app/tenant.ts';
import { nextGuid } from '../../../testing/objects/customers.ts';
import { createIngestCalls } from '../../../testing/webhooks/ingest.ts';

/** POST /operator/events */
const app = await createTestApp();
const tenant = await createTenant(app);
const other = await createTenant(app, { environment: 'production' });
const { send, event, stored, published, assertRefused } = createIngestCalls(app, tenant);
const without = (name: string, { [name]: _, ...rest }: Record<string, unknown>) => rest;

test('a repeated event is accepted and not delivered again', async () => {
  const events = [event({ guid: nextGuid(app) }), event({ guid: nextGuid(app) })];
  const first = await send(...events);
  const before = [await stored(), await published()];
  app.clock.advance(1_000);
  // With and without the environment it is the same event.
  const again = await send(...events.map((each) => ({ ...each, environment: 'sandbox' })));
  assert.deepEqual([again.status, again.body], [202, { ...first.body, created: 0 }]);
  assert.deepEqual([await stored(), await published()], before, 'nor is anything about it changed');
  const mixed = await send(...events, event());
  assert.deepEqual([mixed.body.total, mixed.body.created], [3, 1]);
});

test('the same event twice in one request is one event', async () => {
  const sent = event({ guid: nextGuid(app) });
  const before = await published();
  const { status, body } = await send(sent, event(), sent);
  assert.equal(status, 202);
  assert.deepEqual([body.total, body.created, await published()], [3, 2, before + 2]);
  assert.deepEqual([(body.guids as string[])[0], (body.guids as string[])[2]], [sent.guid, sent.guid]);
});

/** Each field of an event with another value. */
async function contradictions(): Promise<Record<string, unknown>[]> {
  const path = `/organizations/${tenant.organizationGuid}/banks`;
  const second = await app.operate('POST', path, { name: 'Second', environment: 'sandbox' });
  const third = await app.operate('POST', path, { name: 'Third', environment: 'production' });
  return [
    { event_type: 'transfer.failed' },
    { object_guid: nextGuid(app) },
    { bank_guid: second.body.guid },
    { bank_guid: third.body.guid },
    { organization_guid: other.organizationGuid, bank_guid: other.bankGuid },
  ];
}

test('a known guid with different content is a conflict and rejects the request', async () => {
  const sent = event({ guid: nextGuid(app) });
  await send(sent);
  for (const fields of await contradictions())
    await assertRefused(
      () => send(event(), { ...sent, ...fields }, event()),
      409,
      'event_conflict',
      /^events\[1\]\.guid /,
    );
  const bankless = { ...without('bank_guid', sent), environment: 'sandbox' };
  await assertRefused(() => send(bankless), 409, 'event_conflict', /^events\[0\]\.guid /);
});

test('a different environment is a conflict', async () => {
  const sent = { ...without('bank_guid', event({ guid: nextGuid(app) })), environment: 'sandbox' };
  await send(sent);
  const contrary = { ...sent, environment: 'production' };
  await assertRefused(() => send(contrary), 409, 'event_conflict', /^events\[0\]\.guid /);
});

test('different events with one guid in one request are a conflict', async () => {
  for (const fields of await contradictions()) {
    const sent = event({ guid: nextGuid(app) });
    await assertRefused(
      () => send(sent, event(), { ...sent, ...fields }),
      409,
      'event_conflict',
      /^events\[2\]\.guid /,
    );
  }
});

test('concurrent repetitions of a batch in any order create one set of events', async () => {
  for (let round = 0; round < 5; round++) {
    const events = Array.from({ length: 200 }, () => event({ guid: nextGuid(app) }));
    const before = [(await stored()).length, await published()] as const;
    const orders = [events, events.toReversed(), shuffled(events), shuffled(events), shuffled(events)];
    const answers = await Promise.all(orders.map((order) => send(...order)));
    assert.deepEqual(
      answers.map(({ status }) => status),
      orders.map(() => 202),
    );
    assert.equal(
      answers.reduce((sum, { body }) => sum + Number(body.created), 0),
      events.length,
    );
    assert.deepEqual(
      [(await stored()).length, await published()],
      [before[0] + events.length, before[1] + events.length],
    );
  }
});

test('of two concurrent conflicting requests one is accepted and the other rejected', async () => {
  const guid = nextGuid(app);
  const [one, two] = [event({ guid }), event({ guid })];
  const before = (await stored()).length;
  const answers = await Promise.all([send(one, event()), send(two, event())]);
  assert.deepEqual(answers.map(({ status }) => status).sort(), [202, 409]);
  assert.equal((await stored()).length, before + 2);
});

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => [Math.random(), item] as const)
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item);
}
