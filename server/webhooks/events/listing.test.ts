import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectsOf } from '../../../testing/api/answers.ts';
import { assertError, createTestApp } from '../../../testing/app/app.ts';
import { createTenant, PRODUCTION_HOST, tokenOf, userToken } from '../../../testing/app/tenant.ts';
import { nextGuid } from '../../../testing/objects/customers.ts';
import { publishEvents } from '../../../testing/webhooks/events.ts';

/** GET /api/subscription_events: visibility, filters and pages (contract, section 5). */
const app = await createTestApp();
const tenant = await createTenant(app);
const stranger = await createTenant(app);
const scope = 'subscription_events:read';
const sandbox = await tokenOf(app, tenant.organizationKey, scope);
const production = await tokenOf(app, tenant.organizationKey, scope, { host: PRODUCTION_HOST });

const path = `/organizations/${tenant.organizationGuid}/banks`;
const live = await app.operate('POST', path, { name: 'Live', environment: 'production' });
const liveBank = String(live.body.guid);

/** A to F, a minute apart; the events of the banks are older. */
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
app.clock.advance(MINUTE_MS);
const START = app.clock.now().getTime();
const objectGuid = nextGuid(app);
const labels: Record<string, string> = {};
for (const [label, fields] of Object.entries({
  A: { event_type: 'transfer.storing', object_guid: objectGuid },
  B: { event_type: 'transfer.completed', object_guid: objectGuid },
  C: { event_type: 'trade.failed', bank_guid: undefined, environment: 'sandbox' },
  D: { event_type: 'trade.failed', bank_guid: liveBank },
  E: { event_type: 'plan.failed', bank_guid: undefined, environment: 'production' },
  F: { event_type: 'trade.completed' },
})) {
  const [guid] = await publishEvents(app, tenant, [fields]);
  labels[String(guid)] = label;
  app.clock.advance(MINUTE_MS);
}
const guidOf = (label: string) => Object.keys(labels).find((guid) => labels[guid] === label) as string;
const at = (minute: number, ms = 0) => new Date(START + minute * MINUTE_MS + ms).toISOString();

const list = (query: string, token: string) => app.call({ url: `/api/subscription_events?${query}`, token });

/** Labels of the listed events; others are omitted. */
async function found(query: string, token?: string): Promise<string> {
  const events = objectsOf(await list(query, token ?? (await userToken(app, tenant.organizationGuid))));
  return events.map(({ guid }) => labels[String(guid)] ?? '').join('');
}

test('a user token sees both environments, newest first; a token of an environment sees only that one', async () => {
  assert.equal(await found(''), 'FEDCBA');
  assert.equal(await found('', sandbox), 'FCBA');
  assert.equal(await found('', production), 'ED');
});

test('an event omits empty fields', async () => {
  const token = await userToken(app, tenant.organizationGuid);
  const get = async (label: string) =>
    (await app.call({ url: `/api/subscription_events/${guidOf(label)}`, token })).body;
  assert.deepEqual(await get('B'), {
    guid: guidOf('B'),
    organization_guid: tenant.organizationGuid,
    bank_guid: tenant.bankGuid,
    event_type: 'transfer.completed',
    object_guid: objectGuid,
    environment: 'sandbox',
    created_at: at(1),
  });
  assert.ok(!('bank_guid' in (await get('E'))));
  const [listed] = objectsOf(await list(`guid=${guidOf('B')}`, sandbox));
  assert.deepEqual(listed, await get('B'));
});

test('the changes of a bank are events like any other', async () => {
  const events = objectsOf(await list(`object_guid=${liveBank}`, production));
  assert.deepEqual(
    events.map((event) => [event.event_type, event.bank_guid]),
    [['bank.created', liveBank]],
  );
});

test('execute of events covers reading them', async () => {
  const token = await tokenOf(app, tenant.organizationKey, 'subscription_events:execute');
  assert.equal(await found('', token), 'FCBA');
  assert.equal((await app.call({ url: `/api/subscription_events/${guidOf('A')}`, token })).status, 200);
});

test('objects of another tenant or environment are not found', async () => {
  const absent = { url: `/api/subscription_events/${'0'.repeat(32)}`, token: sandbox };
  const { body } = await app.call(absent);
  for (const token of [
    production,
    await tokenOf(app, stranger.organizationKey, scope),
    await userToken(app, stranger.organizationGuid),
  ]) {
    const answer = await app.call({ url: `/api/subscription_events/${guidOf('A')}`, token });
    assertError(answer, 404, 'not_found');
    assert.deepEqual(answer.body, body);
    for (const query of [
      `guid=${guidOf('A')}`,
      `object_guid=${objectGuid}`,
      `bank_guid=${tenant.bankGuid}`,
      `after=${guidOf('B')}`,
    ])
      assert.equal(await found(query, token), '', query);
  }
});

test('without the feature 422 not_implemented: after the scope, before the input', async () => {
  const plain = await createTenant(app, { features: [] });
  const [guid] = await publishEvents(app, plain);
  const unscoped = await tokenOf(app, plain.organizationKey, 'customers:read');
  const tokens = [
    await tokenOf(app, plain.organizationKey, scope),
    await userToken(app, plain.organizationGuid),
  ];
  for (const url of ['', `/${guid}`, '?no_such_parameter=1', '/no-guid'])
    for (const token of tokens) {
      const call = { url: `/api/subscription_events${url}` };
      assertError(await app.call({ ...call, token }), 422, 'not_implemented');
      assertError(await app.call({ ...call, token: unscoped }), 403, 'invalid_scopes');
    }
  await app.operate('PATCH', `/organizations/${plain.organizationGuid}`, { features: ['webhooks'] });
  for (const token of tokens)
    assert.equal((await app.call({ url: `/api/subscription_events/${guid}`, token })).status, 200);
});

test('guid, object_guid and bank_guid take one value or a comma list', async () => {
  assert.equal(await found(`guid=${guidOf('B')}`), 'B');
  assert.equal(await found(`guid=${guidOf('A')},${guidOf('E')},${guidOf('A')}`), 'EA');
  assert.equal(await found(`guid=${'0'.repeat(32)}`), '');
  assert.equal(await found(`object_guid=${objectGuid}`), 'BA');
  assert.equal(await found(`object_guid=${objectGuid},${liveBank}`), 'BA');
  assert.equal(await found(`object_guid=${objectGuid},${liveBank}&after=${guidOf('B')}&per_page=1`), 'A');
  assert.equal(await found(`bank_guid=${liveBank}`), 'D');
  assert.equal(await found(`bank_guid=${liveBank},${tenant.bankGuid}`), 'FDBA');
});

test('event_type takes known types, one or several, and an unknown one is refused', async () => {
  assert.equal(await found('event_type=trade.failed'), 'DC');
  assert.equal(await found('event_type=trade.failed,plan.failed,transfer.storing'), 'EDCA');
  assert.equal(await found('event_type=trade.failed', sandbox), 'C');
  for (const [text, message] of [
    ['trade.exploded', /^event_type must be .* trade\.exploded$/],
    ['trade.failed,trade', /^event_type must be .* trade$/],
    ['trade.failed,', /^event_type /],
    ['', /^event_type /],
  ] as const)
    assertError(await list(`event_type=${text}`, sandbox), 400, 'invalid_parameter', message);
});

test('environment narrows what a token sees, and never widens it', async () => {
  assert.equal(await found('environment=production'), 'ED');
  assert.equal(await found('environment=sandbox'), 'FCBA');
  assert.equal(await found('environment=sandbox,production'), 'FEDCBA');
  assert.equal(await found('environment=sandbox,sandbox'), 'FCBA');
  assert.equal(await found('environment=sandbox,production', sandbox), 'FCBA');
  const { body } = await list('environment=production', sandbox);
  assert.deepEqual(body, { total: 0, page: 0, per_page: 20, objects: [] });
});

test('created_at_gte is inclusive and created_at_lt is exclusive', async () => {
  assert.equal(await found(`created_at_gte=${at(2)}`), 'FEDC');
  assert.equal(await found(`created_at_gte=${at(2, 1)}`), 'FED');
  assert.equal(await found(`created_at_lt=${at(2)}`), 'BA');
  assert.equal(await found(`created_at_lt=${at(2, 1)}`), 'CBA');
  assert.equal(await found(`created_at_gte=${at(1)}&created_at_lt=${at(3)}`), 'CB');
  assert.equal(await found(`created_at_gte=${at(3)}&created_at_lt=${at(1)}`), '');
});

test('created_at filters accept times far in the past and future', async () => {
  for (const year of ['0000', '0001', '1970', '9999']) {
    const isAhead = year === '9999';
    assert.equal(await found(`created_at_gte=${year}-01-01T00:00:00Z`), isAhead ? '' : 'FEDCBA');
    assert.equal(await found(`created_at_lt=${year}-12-31T23:59:59Z`), isAhead ? 'FEDCBA' : '');
  }
});

test('created_at filters find events whose guid time differs', async () => {
  const now = app.clock.now();
  const [from, to] = [now.toISOString(), new Date(now.getTime() + 1).toISOString()];
  const guids = [-7 * DAY_MS, 5 * MINUTE_MS].map(
    (ms) => (now.getTime() + ms).toString(16).padStart(12, '0') + nextGuid(app).slice(12),
  );
  await publishEvents(
    app,
    stranger,
    guids.map((guid) => ({ guid })),
  );
  const token = await userToken(app, stranger.organizationGuid);
  const events = objectsOf(await list(`created_at_gte=${from}&created_at_lt=${to}`, token));
  assert.deepEqual(
    events.map(({ guid, created_at }) => [guid, created_at]),
    guids.toReversed().map((guid) => [guid, from]),
  );
  app.clock.advance(MINUTE_MS);
});

test('filters combine, on every page and in the total', async () => {
  assert.equal(await found(`event_type=trade.failed&created_at_gte=${at(3)}`), 'D');
  assert.equal(await found(`guid=${guidOf('A')}&event_type=trade.failed`), '');
  const query = 'event_type=trade.failed,trade.completed,transfer.storing&per_page=2';
  const { body } = await list(query, await userToken(app, tenant.organizationGuid));
  assert.deepEqual([body.total, body.next], [4, guidOf('D')]);
  assert.equal(await found(`${query}&after=${body.next}`), 'CA');
});

test('paging with after shows each of 250 events of both environments once, newest first', async () => {
  const walker = await createTenant(app);
  const { body } = await app.operate('POST', `/organizations/${walker.organizationGuid}/banks`, {
    name: 'Live',
    environment: 'production',
  });
  const guids: string[] = [];
  for (const count of [100, 149]) {
    const banks = Array.from({ length: count }, (_, index) => ({
      bank_guid: index % 3 === 0 ? body.guid : walker.bankGuid,
    }));
    guids.push(...(await publishEvents(app, walker, banks)));
    app.clock.advance(DAY_MS * 4);
  }
  guids.push(...(await publishEvents(app, walker, 1)));

  const token = await userToken(app, walker.organizationGuid);
  const query = 'event_type=transfer.completed&per_page=40';
  const walked: string[] = [];
  for (let next: unknown, pages = 1; ; pages++) {
    const answer = await list(next === undefined ? query : `${query}&after=${next}`, token);
    assert.equal(answer.body.total, 250);
    walked.push(...objectsOf(answer).map(({ guid }) => String(guid)));
    // Events published during the paging do not shift its position.
    if (pages === 2) await app.operate('PATCH', `/banks/${walker.bankGuid}`, { name: 'Renamed' });
    next = answer.body.next;
    if (next === undefined) break;
  }
  assert.deepEqual(walked, guids.toSorted().toReversed());

  const numbered = objectsOf(await list(`${query}&page=3`, token)).map(({ guid }) => guid);
  assert.deepEqual(numbered, walked.slice(120, 160));
});
