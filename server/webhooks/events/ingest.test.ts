import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectsOf } from '../../../testing/api/answers.ts';
import { assertError, createTestApp } from '../../../testing/app/app.ts';
import { createTenant, userToken } from '../../../testing/app/tenant.ts';
import { nextGuid } from '../../../testing/objects/customers.ts';
import { eventOf, publishEvents } from '../../../testing/webhooks/events.ts';
import { createIngestCalls } from '../../../testing/webhooks/ingest.ts';
import { EVENT_TYPES } from './catalogue.ts';

/** POST /operator/events */
const app = await createTestApp();
const tenant = await createTenant(app);
const other = await createTenant(app, { environment: 'production' });
const ABSENT = '0'.repeat(32);
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const START = app.clock.now().getTime();

const { send, event, stored, published, assertRefused } = createIngestCalls(app, tenant);
const without = (name: string, { [name]: _, ...rest }: Record<string, unknown>) => rest;

/** A guid of that time; `tail` follows the time bits. */
function guidAt(ms: number, tail = `7${'0'.repeat(3)}8${'0'.repeat(15)}`): string {
  return ms.toString(16).padStart(12, '0') + tail;
}

test('an event is stored with the environment of its bank before it is accepted', async () => {
  const guid = nextGuid(app);
  const sent = event({ guid });
  const { status, body } = await send(sent);
  assert.deepEqual([status, body], [202, { total: 1, created: 1, guids: [guid] }]);
  const token = await userToken(app, tenant.organizationGuid);
  assert.deepEqual((await app.call({ url: `/api/subscription_events/${guid}`, token })).body, {
    ...sent,
    environment: 'sandbox',
    created_at: app.clock.now().toISOString(),
  });
});

test('missing guids are generated and returned in the order of the events', async () => {
  const [first, third] = [nextGuid(app), nextGuid(app)];
  const { body } = await send(event({ guid: third }), event(), event({ guid: first }), event());
  const guids = body.guids as string[];
  assert.deepEqual([body.total, body.created, guids[0], guids[2]], [4, 4, third, first]);
  assert.equal(new Set(guids).size, 4);
  for (const guid of guids) assert.match(guid, /^[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/);
  const rows = (await stored()).map((row) => row.guid);
  assert.ok(guids.every((guid) => rows.includes(guid)));
});

test('every type of the catalogue is accepted and counted', async () => {
  const before = await published();
  const { status } = await send(...EVENT_TYPES.map((event_type) => event({ event_type })));
  assert.equal(status, 202);
  assert.equal(await published(), before + EVENT_TYPES.length);
});

test('an unknown event type is refused', async () => {
  for (const event_type of ['trade.exploded', 'trade', 'TRADE.FAILED', '', 'customer.created'])
    await assertRefused(
      () => send(event(), event({ event_type })),
      400,
      'invalid_parameter',
      /^events\[1\]\.event_type /,
    );
});

test('an unknown organization is refused', async () => {
  for (const fields of [{ organization_guid: ABSENT }, { organization_guid: tenant.bankGuid }])
    await assertRefused(
      () => send(event(), event(fields)),
      422,
      'unknown_organization',
      /^events\[1\]\.organization_guid /,
    );
});

test('a bank that does not exist or belongs to another organization is refused', async () => {
  for (const bank_guid of [ABSENT, other.bankGuid, tenant.organizationGuid])
    await assertRefused(
      () => send(event(), event(), event({ bank_guid })),
      422,
      'no_bank',
      /^events\[2\]\.bank_guid /,
    );
});

test('environment is required without a bank', async () => {
  const bankless = without('bank_guid', event());
  await assertRefused(
    () => send(event(), bankless),
    400,
    'missing_parameter',
    /^events\[1\]\.environment is required/,
  );
  for (const environment of ['production', 'sandbox']) {
    const { body } = await send({ ...bankless, environment });
    const row = (await stored()).find(({ guid }) => guid === (body.guids as string[])[0]);
    assert.deepEqual([row?.environment, row?.bank_guid], [environment, null]);
  }
});

test('environment is optional with a bank and must match it', async () => {
  assert.equal((await send(event({ environment: 'sandbox' }))).status, 202);
  for (const environment of ['production', 'live'])
    await assertRefused(
      () => send(event({ environment })),
      400,
      'invalid_parameter',
      /^events\[0\]\.environment /,
    );
});

test('a guid must be a UUIDv7', async () => {
  const now = app.clock.now().getTime();
  const tails = {
    version: `4${'0'.repeat(3)}8${'0'.repeat(15)}`,
    variant: `7${'0'.repeat(3)}c${'0'.repeat(15)}`,
  };
  for (const guid of [guidAt(now, tails.version), guidAt(now, tails.variant), 'x', guidAt(now).toUpperCase()])
    await assertRefused(() => send(event({ guid })), 400, 'invalid_parameter', /^events\[0\]\.guid /);
});

test('a guid is at most 7 days old and at most 5 minutes ahead', async () => {
  for (const ms of [
    START - 7 * DAY_MS - 1,
    START + 5 * MINUTE_MS + 1,
    0,
    START - 60 * DAY_MS,
    START + DAY_MS,
  ])
    await assertRefused(
      () => send(event(), event({ guid: guidAt(ms) })),
      400,
      'invalid_parameter',
      /^events\[1\]\.guid must be a UUIDv7 of the last 7 days, at most 5 minutes ahead$/,
    );
  for (const ms of [START - 7 * DAY_MS, START + 5 * MINUTE_MS])
    assert.deepEqual((await send(event({ guid: guidAt(ms) }))).body.created, 1);
});

test('the error names the first invalid field', async () => {
  const wrong = [event({ bank_guid: ABSENT }), event({ organization_guid: ABSENT })];
  await assertRefused(() => send(event(), ...wrong), 422, 'no_bank', /^events\[1\]/);
  await assertRefused(() => send(event(), ...wrong.reverse()), 422, 'unknown_organization', /^events\[1\]/);
});

test('one invalid event rejects the whole request', async () => {
  const events = Array.from({ length: 100 }, () => event());
  events[57] = event({ organization_guid: ABSENT });
  await assertRefused(() => send(...events), 422, 'unknown_organization', /^events\[57\]/);
});

test('calls at the same time are answered each for itself, and a refused one affects no other', async () => {
  const guids = Array.from({ length: 9 }, () => nextGuid(app));
  const answers = await Promise.all(
    guids.map((guid, n) => send(event({ guid, ...(n % 3 === 1 && { bank_guid: ABSENT }) }), event())),
  );
  for (const [n, answer] of answers.entries())
    if (n % 3 === 1) assertError(answer, 422, 'no_bank', /^events\[0\]/);
    else assert.deepEqual([answer.body.total, (answer.body.guids as string[])[0]], [2, guids[n]]);
  const rows = new Set((await stored()).map(({ guid }) => guid));
  assert.deepEqual(
    guids.filter((guid) => rows.has(guid)),
    guids.filter((_, n) => n % 3 !== 1),
  );
});

test('0 and 1,001 events are refused, 1,000 with every field are accepted', async () => {
  await assertRefused(() => send(), 400, 'invalid_parameter', /^events must not be empty/);
  const full = (count: number) =>
    Array.from({ length: count }, () =>
      event({
        guid: nextGuid(app),
        event_type: 'account.balance_funding_pull.below_minimum',
        environment: 'sandbox',
      }),
    );
  await assertRefused(() => send(...full(1_001)), 400, 'invalid_parameter', /^events must have at most 1000/);
  const events = full(1_000);
  // Indented JSON of all fields, which is still below the limit of 1 MiB.
  assert.ok(Buffer.byteLength(JSON.stringify({ events }, undefined, 4)) < 1024 ** 2 / 2);
  const { status, body } = await send(...events);
  assert.deepEqual([status, body.total, body.created], [202, 1_000, 1_000]);
  assert.deepEqual(
    body.guids,
    events.map(({ guid }) => guid),
  );
  assert.equal((await send(...events.toReversed())).body.created, 0);
});

test('unknown and missing fields are named in the error', async () => {
  await assertRefused(
    () => send(event(), event({ created_at: app.clock.now().toISOString() })),
    400,
    'invalid_parameter',
    /^events\[1\]\.created_at is not a parameter/,
  );
  for (const name of ['organization_guid', 'event_type', 'object_guid'])
    await assertRefused(
      () => send(without(name, event())),
      400,
      'missing_parameter',
      new RegExp(`^events\\[0\\]\\.${name} is required`),
    );
});

test('one request may contain events of several organizations and environments', async () => {
  const [mine, theirs] = [event(), eventOf(app, other)];
  const { body } = await send(mine, theirs);
  const guids = body.guids as string[];
  for (const [{ organizationGuid }, guid, environment] of [
    [tenant, guids[0], 'sandbox'],
    [other, guids[1], 'production'],
  ] as const) {
    const token = await userToken(app, organizationGuid);
    const found = objectsOf(await app.call({ url: `/api/subscription_events?guid=${guids.join()}`, token }));
    assert.deepEqual(
      found.map((each) => [each.guid, each.environment]),
      [[guid, environment]],
    );
  }
});

test('only committed events are counted as published', async () => {
  const text = async () => (await app.server.inject('/metrics')).body;
  const count = (all: string) =>
    Number(/^portico_events_published_total\{event_type="plan\.failed"\} (\d+)/m.exec(all)?.[1] ?? 0);
  const before = count(await text());
  const failed = { event_type: 'plan.failed' };
  const [guid] = await publishEvents(app, tenant, [failed, failed]);
  assert.equal(count(await text()), before + 2);
  assertError(await send(event({ ...failed }), event({ guid })), 409, 'event_conflict');
  assert.equal(count(await text()), before + 2, 'a conflict was found after the insert, and undid it');
});
