import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectsOf } from '../../../testing/api/answers.ts';
import { issueToken } from '../../../testing/api/api-callers.ts';
import { assertError, createTestApp } from '../../../testing/app/app.ts';
import { createTenant, PRODUCTION_HOST, tokenOf, userToken } from '../../../testing/app/tenant.ts';
import { createCustomer } from '../../../testing/objects/customers.ts';
import { guidOf, insertDeliveries } from '../../../testing/webhooks/deliveries.ts';
import { createSubscription } from '../../../testing/webhooks/subscriptions.ts';

/** GET /api/subscription_deliveries: visibility, filters and pages (contract, section 5). */
const app = await createTestApp();
const { clock } = app;
const tenant = await createTenant(app);
const stranger = await createTenant(app);
const scope = 'subscription_events:read';
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

const first = await createSubscription(app, tenant);
const second = await createSubscription(app, tenant);
const live = await createSubscription(app, tenant, { environment: 'production' });
clock.advance(MINUTE_MS);
const START = clock.now().getTime();
const minute = (count: number) => new Date(START + count * MINUTE_MS);
const event = guidOf(clock.now());
const dueAt = new Date(START + DAY_MS);

/** A to H, a minute apart, over both environments and all states. */
const labels: Record<string, string> = {};
for (const [label, subscription, options] of [
  ['A', first, { ended: 'completed', event_guid: event, bank_guid: tenant.bankGuid }],
  ['B', second, { ended: 'failed', event_guid: event, event_type: 'trade.failed' }],
  ['C', first, { failing_since: minute(2), dueAt }],
  ['D', live, { ended: 'failed', bank_guid: tenant.bankGuid }],
  ['E', first, { ended: 'failed', event_type: 'trade.failed' }],
  ['F', live, { event_type: 'plan.failed' }],
  ['G', second, { ended: 'completed', failing_since: minute(6) }],
  ['H', first, {}],
] as const) {
  const created_at = clock.now();
  const [guid] = await insertDeliveries(app, tenant, subscription, [{ created_at, ...options }]);
  labels[String(guid)] = label;
  clock.advance(MINUTE_MS);
}
const label = (name: string) => Object.keys(labels).find((guid) => labels[guid] === name) as string;
const at = (count: number, ms = 0) => new Date(START + count * MINUTE_MS + ms).toISOString();

const sandbox = await tokenOf(app, tenant.organizationKey, scope);
const production = await tokenOf(app, tenant.organizationKey, scope, { host: PRODUCTION_HOST });
const list = (query: string, token: string) =>
  app.call({ url: `/api/subscription_deliveries?${query}`, token });

/** Labels of the listed deliveries; subscription events are omitted. */
async function found(query: string, token?: string): Promise<string> {
  const deliveries = objectsOf(await list(query, token ?? (await userToken(app, tenant.organizationGuid))));
  return deliveries.map(({ guid }) => labels[String(guid)] ?? '').join('');
}

test('a user token sees both environments, newest first; a token of an environment sees only that one', async () => {
  assert.equal(await found(''), 'HGFEDCBA');
  assert.equal(await found('', sandbox), 'HGECBA');
  assert.equal(await found('', production), 'FD');
});

test('execute of events covers reading deliveries', async () => {
  const token = await tokenOf(app, tenant.organizationKey, 'subscription_events:execute');
  assert.equal(await found('', token), 'HGECBA');
});

test('bank and customer tokens are refused', async () => {
  const callers = { ...tenant, customerGuid: await createCustomer(app, tenant.bankGuid) };
  for (const type of ['bank', 'customer'] as const) {
    const token = await issueToken(app, callers, type);
    for (const url of ['', `/${label('A')}`])
      assertError(
        await app.call({ url: `/api/subscription_deliveries${url}`, token }),
        403,
        'invalid_scopes',
        new RegExp(`not a ${type} token$`),
      );
  }
});

test('an Organization without webhooks gets 422 not_implemented', async () => {
  const without = await createTenant(app, { features: [] });
  assertError(await list('', await userToken(app, without.organizationGuid)), 422, 'not_implemented');
});

test('objects of another tenant or environment are not found', async () => {
  const absent = await app.call({ url: `/api/subscription_deliveries/${'0'.repeat(32)}`, token: sandbox });
  for (const token of [
    production,
    await tokenOf(app, stranger.organizationKey, scope),
    await userToken(app, stranger.organizationGuid),
  ]) {
    const answer = await app.call({ url: `/api/subscription_deliveries/${label('A')}`, token });
    assertError(answer, 404, 'not_found');
    assert.deepEqual(answer.body, absent.body);
    for (const query of [
      `guid=${label('A')},${label('B')}`,
      `subscription_guid=${first.guid}`,
      `subscription_guid=${first.guid},${second.guid}&state=failed`,
      `subscription_guid=${first.guid}&state=failing,storing`,
      `subscription_event_guid=${event}`,
    ]) {
      const { body } = await list(query, token);
      assert.deepEqual([body.total, body.objects], [0, []], query);
    }
  }
  const others = await list('', await userToken(app, stranger.organizationGuid));
  assert.deepEqual(others.body, { total: 0, page: 0, per_page: 20, objects: [] });
});

test('guid, subscription_guid and subscription_event_guid take one value or a comma list', async () => {
  assert.equal(await found(`guid=${label('B')}`), 'B');
  assert.equal(await found(`guid=${label('A')},${label('E')},${label('A')}`), 'EA');
  assert.equal(await found(`guid=${'0'.repeat(32)}`), '');
  assert.equal(await found(`subscription_guid=${second.guid}`), 'GB');
  assert.equal(await found(`subscription_guid=${second.guid},${live.guid}`), 'GFDB');
  assert.equal(await found(`subscription_guid=${'0'.repeat(32)}`), '');
  assert.equal(await found(`subscription_event_guid=${event}`), 'BA');
  assert.equal(await found(`subscription_event_guid=${event}&subscription_guid=${first.guid}`), 'A');
  assert.equal(await found(`subscription_event_guid=${'0'.repeat(32)}`), '');
});

test('event_type takes known types, and bank_guid banks, one or several', async () => {
  assert.equal(await found('event_type=trade.failed'), 'EB');
  assert.equal(await found('event_type=trade.failed,plan.failed'), 'FEB');
  assertError(
    await list('event_type=trade.exploded', sandbox),
    400,
    'invalid_parameter',
    /^event_type must be .* trade\.e/,
  );
  assert.equal(await found(`bank_guid=${tenant.bankGuid}`), 'DA');
  assert.equal(await found(`bank_guid=${stranger.bankGuid}`), '');
});

test('completed_at_gte and completed_at_lt find completed deliveries, also those completed late', async () => {
  // As a node of the previous version records it.
  const { queries } = app.database;
  const [late = ''] = await insertDeliveries(app, tenant, live, [
    { created_at: minute(4), guid: guidOf(minute(4)) },
  ]);
  labels[late] = 'X';
  await queries
    .updateTable('deliveries')
    .set({ completed_at: minute(30) })
    .where('guid', '=', late)
    .execute();
  for (const [query, expected] of [
    [`completed_at_gte=${at(0)}`, 'GXA'],
    [`completed_at_gte=${at(0)}&completed_at_lt=${at(6)}`, 'A'],
    [`completed_at_gte=${at(6)}`, 'GX'],
    [`completed_at_gte=${at(7)}&completed_at_lt=${at(31)}`, 'X'],
    [`completed_at_lt=${at(30)}`, 'GA'],
    [`completed_at_gte=${at(0)}&state=failed`, ''],
    [`completed_at_gte=${at(0)}&state=completed&event_type=trade.failed`, ''],
    [`completed_at_gte=${at(0)}&per_page=1&after=${late}`, 'A'],
    [`guid=${late}&completed_at_gte=${at(30)}`, 'X'],
    [`guid=${late}&completed_at_lt=${at(30)}`, ''],
  ] as const)
    assert.equal(await found(query), expected, query);
  await queries.deleteFrom('deliveries').where('guid', '=', late).execute();
  await queries.deleteFrom('delivery_queue').where('delivery_guid', '=', late).execute();
});

test('state takes known states, one or several, and an unknown one is refused', async () => {
  assert.equal(await found('state=completed'), 'GA');
  assert.equal(await found('state=failed'), 'EDB');
  assert.equal(await found('state=failing'), 'C');
  assert.equal(await found('state=storing'), 'HF');
  assert.equal(await found('state=storing,failing'), 'HFC');
  assert.equal(await found('state=failed,failing'), 'EDCB');
  assert.equal(await found('state=completed,failed'), 'GEDBA');
  assert.equal(await found('state=storing,failing,completed,failed'), 'HGFEDCBA');
  assert.equal(await found('state=failed,failed'), 'EDB');
  for (const [text, message] of [
    ['pending', /^state must be one of .* pending$/],
    ['failed,pending', /^state must be one of .* pending$/],
    ['failed,', /^state /],
    ['', /^state /],
  ] as const)
    assertError(await list(`state=${text}`, sandbox), 400, 'invalid_parameter', message);
});

test('environment narrows what a token sees, and never widens it', async () => {
  assert.equal(await found('environment=production'), 'FD');
  assert.equal(await found('environment=sandbox'), 'HGECBA');
  assert.equal(await found('environment=sandbox,production'), 'HGFEDCBA');
  assert.equal(await found('environment=production', sandbox), '');
  assert.equal(await found('environment=production&state=failed'), 'D');
});

test('created_at_gte is inclusive and created_at_lt is exclusive', async () => {
  assert.equal(await found(`created_at_gte=${at(4)}`), 'HGFE');
  assert.equal(await found(`created_at_gte=${at(4, 1)}`), 'HGF');
  assert.equal(await found(`created_at_lt=${at(2)}`), 'BA');
  assert.equal(await found(`created_at_lt=${at(2, 1)}`), 'CBA');
  assert.equal(await found(`created_at_gte=${at(1)}&created_at_lt=${at(3)}`), 'CB');
  assert.equal(await found(`created_at_gte=${at(3)}&created_at_lt=${at(1)}`), '');
  for (const year of ['0000', '1970', '9999']) {
    assert.equal(await found(`created_at_gte=${year}-01-01T00:00:00Z`), year === '9999' ? '' : 'HGFEDCBA');
    assert.equal(await found(`created_at_lt=${year}-12-31T23:59:59Z`), year === '9999' ? 'HGFEDCBA' : '');
  }
});

test('created_at decides even if the guid is ahead of the clock', async () => {
  const owner = await createTenant(app);
  const subscription = await createSubscription(app, owner);
  const created_at = clock.now();
  const guid = guidOf(new Date(created_at.getTime() + 3));
  await insertDeliveries(app, owner, subscription, [{ guid, created_at, ended: 'failed' }]);
  const token = await userToken(app, owner.organizationGuid);
  const window = (from: number, to: number) =>
    [from, to].map((ms) => new Date(created_at.getTime() + ms).toISOString());
  for (const [from, to, expected] of [
    [0, 1, 1],
    [1, 5, 0],
  ] as const) {
    const [gte, lt] = window(from, to);
    const { body } = await list(`state=failed&created_at_gte=${gte}&created_at_lt=${lt}`, token);
    assert.equal(body.total, expected);
  }
});

test('filters combine, on every page and in the total', async () => {
  assert.equal(await found(`state=failed&event_type=trade.failed&created_at_gte=${at(2)}`), 'E');
  assert.equal(await found(`state=failed,storing&subscription_guid=${live.guid}`), 'FD');
  assert.equal(await found(`guid=${label('A')}&state=failed`), '');
  assert.equal(await found(`subscription_event_guid=${event}&state=failed`), 'B');
  assert.equal(await found(`bank_guid=${tenant.bankGuid}&environment=production`), 'D');
  const query = 'state=failed,failing,completed&per_page=4';
  const { body } = await list(query, await userToken(app, tenant.organizationGuid));
  assert.deepEqual([body.total, body.next], [6, label('C')]);
  assert.equal(await found(query), 'GEDC');
  assert.equal(await found(`${query}&after=${body.next}`), 'BA');
  assert.equal(await found(`${query}&page=1`), 'BA');
});

test('the deliveries of subscriptions that have ended stay in the list', async () => {
  const owner = await createTenant(app);
  const subscription = await createSubscription(app, owner);
  await insertDeliveries(app, owner, subscription, [{ ended: 'failed' }]);
  const call = async (method: 'GET' | 'DELETE', url: string) =>
    app.call({ method, url, token: await userToken(app, owner.organizationGuid) });
  await call('DELETE', `/api/subscriptions/${subscription.guid}`);
  clock.advance(DAY_MS);
  assertError(await call('GET', `/api/subscriptions/${subscription.guid}`), 404, 'not_found');
  const { body } = await call('GET', '/api/subscription_deliveries?state=failed');
  assert.equal(body.total, 1);
});

test('paging with after shows each of 250 deliveries of three subscriptions and several weeks once', async () => {
  const owner = await createTenant(app);
  const subscriptions = [
    await createSubscription(app, owner),
    await createSubscription(app, owner, { environment: 'production' }),
    await createSubscription(app, owner),
  ];
  await app.database.queries
    .deleteFrom('deliveries')
    .where('organization_guid', '=', owner.organizationGuid)
    .execute();
  const guids: string[] = [];
  for (const [index, subscription] of [...subscriptions, ...subscriptions].entries()) {
    const count = index === 0 ? 50 : 40;
    const ended = (['completed', 'failed', 'waiting'] as const)[index % 3] ?? 'waiting';
    const deliveries = Array.from({ length: count }, () => ({ ended }));
    guids.push(...(await insertDeliveries(app, owner, subscription, deliveries)));
    clock.advance(DAY_MS * 2);
  }
  for (const [filter, expected] of [
    ['', guids],
    ['&state=completed,failed,storing', guids],
    [
      '&state=failed',
      guids.filter((_, index) => (index >= 50 && index < 90) || (index >= 170 && index < 210)),
    ],
  ] as const) {
    const walked: string[] = [];
    for (let next: unknown; ; ) {
      const query = `per_page=37${filter}${next === undefined ? '' : `&after=${next}`}`;
      const { body } = await list(query, await userToken(app, owner.organizationGuid));
      assert.equal(body.total, expected.length);
      walked.push(...(body.objects as { guid: string }[]).map(({ guid }) => guid));
      next = body.next;
      if (next === undefined) break;
    }
    assert.deepEqual(walked, expected.toSorted().toReversed(), filter);
    const numbered = await list(`per_page=10&page=5${filter}`, await userToken(app, owner.organizationGuid));
    assert.deepEqual(
      objectsOf(numbered).map(({ guid }) => guid),
      walked.slice(50, 60),
    );
  }
});
