import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCallers, issueToken } from '../../testing/api/api-callers.ts';
import { newObject } from '../../testing/objects/objects.ts';
import { createSubscription } from '../../testing/webhooks/subscriptions.ts';
import { createTestEndpoint } from '../../testing/webhooks/test-endpoint.ts';
import { createDispatchingApp, eventIn } from '../../testing/webhooks/webhooks.ts';
import { EVENT_TYPES } from '../webhooks/events/catalogue.ts';
import { endingsOf, pathTo } from './machine.ts';
import { OBJECT_TYPES } from './types.ts';

/** The events that a subscribed endpoint receives for each object type and ending (specification, Events). */
const app = await createDispatchingApp();
const owner = await createCallers(app);
const receiver = await createTestEndpoint();
await createSubscription(app, owner, { url: receiver.url });
await app.dispatcher.drain();

/** The expected event kinds in order for each ending, written by hand; `default` is without `simulate`. */
const TOLD: Record<string, Record<string, string>> = {
  customer: { default: '' },
  quote: { default: '' },
  account: {
    default: '',
    low: 'balance_funding_pull.low',
    below_minimum: 'balance_funding_pull.low balance_funding_pull.below_minimum',
  },
  trade: {
    default: 'storing pending executed settling completed',
    pending: 'storing pending',
    executed: 'storing pending executed',
    settling: 'storing pending executed settling',
    completed: 'storing pending executed settling completed',
    failed: 'storing pending failed',
    cancelled: 'storing pending cancelled',
  },
  transfer: {
    default: 'storing reviewing completed',
    pending: 'storing pending',
    holding: 'storing pending holding',
    reviewing: 'storing reviewing',
    completed: 'storing reviewing completed',
    failed: 'storing reviewing failed',
  },
  identity_verification: {
    default: 'storing pending reviewing completed',
    // Expires after a day of waiting.
    waiting: 'storing waiting expired',
    pending: 'storing pending',
    reviewing: 'storing pending reviewing',
    completed: 'storing pending reviewing completed',
    expired: 'storing waiting expired',
  },
  plan: {
    default: 'storing planning completed',
    planning: 'storing planning',
    completed: 'storing planning completed',
    failed: 'storing planning failed',
  },
  execution: {
    default: 'storing executing completed',
    executing: 'storing executing',
    completed: 'storing executing completed',
    failed: 'storing executing failed',
  },
  external_bank_account: {
    default: 'storing completed',
    completed: 'storing completed',
    failed: 'storing failed',
    expired: 'storing completed expired',
  },
  deposit_address: { default: '', created: '' },
  workflow: { default: '', completed: '', failed: '' },
};

const DAY_MS = 24 * 3_600_000;

/** Advances the clock until no transition is left: a second for each state, and a day for waiting. */
async function rest(): Promise<void> {
  for (const ms of [1_000, 1_000, 1_000, 1_000, 1_000, DAY_MS, 1_000]) {
    app.clock.advance(ms);
    await app.simulator.drain();
    // A request in flight would time out when a day passes, and be sent again.
    await app.dispatcher.drain();
  }
  const { n } = await app.database.queries
    .selectFrom('objects')
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .where('next_move_at', 'is not', null)
    .executeTakeFirstOrThrow();
  assert.equal(n, 0, 'all are at rest');
}

/** The events of an object in order: guids of events increase. */
function toldOf(guid: string): string[] {
  const events = receiver.received.map(eventIn).filter(({ object_guid }) => object_guid === guid);
  return events.toSorted((a, b) => (a.guid < b.guid ? -1 : 1)).map(({ event_type }) => event_type);
}

const chosen = (ending: string) => (ending === 'default' ? undefined : ending);
const received = new Set<string>();

for (const type of OBJECT_TYPES) {
  const { name, plural, machine } = type;

  test(`${name}: the events of every ending arrive at the endpoint`, async () => {
    const endings = ['default', ...(machine ? endingsOf(machine) : [])];
    assert.deepEqual(Object.keys(TOLD[name] ?? {}).sort(), endings.toSorted(), 'every ending is covered');
    const guids = new Map<string, string>();
    for (const ending of endings) {
      const { status, body } = await app.call({
        method: 'POST',
        url: `/api/${plural}`,
        token: await issueToken(app, owner, 'bank'),
        payload: {
          ...(await newObject(app, type, owner)),
          ...(chosen(ending) && { simulate: ending }),
        },
      });
      assert.equal(status, 201, JSON.stringify(body));
      guids.set(ending, String(body.guid));
    }
    await rest();
    for (const [ending, guid] of guids) {
      const told = toldOf(guid);
      const expected = (TOLD[name]?.[ending] ?? '').split(' ').filter((kind) => kind !== '');
      assert.deepEqual(
        told,
        expected.map((kind) => `${name}.${kind}`),
        ending,
      );
      for (const event of told) received.add(event);
      const { body } = await app.call({
        url: `/api/${plural}/${guid}`,
        token: await issueToken(app, owner, 'bank'),
      });
      const silent = name === 'account' ? 'funded' : machine && pathTo(machine, chosen(ending)).at(-1);
      const last = told.at(-1)?.split('.').at(-1) ?? silent;
      assert.equal(body.state, last, 'the object has the state of the last event');
    }
  });
}

test('a bank emits bank.created and bank.updated', async () => {
  const token = await issueToken(app, owner, 'organization');
  const created = await app.call({ method: 'POST', url: '/api/banks', token, payload: { name: 'New' } });
  const url = `/api/banks/${created.body.guid}`;
  await app.call({ method: 'PATCH', url, token, payload: { name: 'Newer' } });
  await app.dispatcher.drain();
  const told = toldOf(String(created.body.guid));
  assert.deepEqual(told, ['bank.created', 'bank.updated']);
  for (const event of told) received.add(event);
});

test('every event type of objects and banks has arrived, and no other', () => {
  const expected = EVENT_TYPES.filter((type) => !type.startsWith('subscription.'));
  assert.deepEqual([...received].sort(), expected.toSorted());
});

test('an event has the object, its bank, its Organization and its environment, and nothing more', () => {
  const bodies = receiver.received.map(({ body }) => JSON.parse(body.toString()));
  const { guid, object_guid, ...rest } = bodies.find(({ event_type }) => event_type === 'transfer.completed');
  assert.match(`${guid} ${object_guid}`, /^[0-9a-f]{32} [0-9a-f]{32}$/);
  assert.deepEqual(rest, {
    organization_guid: owner.organizationGuid,
    bank_guid: owner.bankGuid,
    event_type: 'transfer.completed',
    environment: 'sandbox',
  });
});
