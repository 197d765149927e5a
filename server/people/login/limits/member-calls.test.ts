import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { type Answer, assertError, createTestApp } from '../../../../testing/app/app.ts';
import { createTenant, everyScope, tokenOf } from '../../../../testing/app/tenant.ts';
import { lockWaits } from '../../../../testing/database/locks.ts';
import { type Browser, browse, joinTeam } from '../../../../testing/people/dashboard.ts';
import { until } from '../../../../testing/webhooks/webhooks.ts';

/** Calls with a session, which each member may send many of at once. */
const app = await createTestApp();
const tenant = await createTenant(app);
const { organizationGuid } = tenant;
const CALLS_PER_MINUTE = 300;
const MAX_IN_FLIGHT = 40;

const saveFilter = (as: Browser, name: string) =>
  browse(app, 'POST', '/account/saved_filters', {
    as,
    payload: { organization_guid: organizationGuid, list: 'transfers', name, filters: {} },
  });
const getSession = (as: Browser) => browse(app, 'GET', '/session', { as });

test('calls of a member that wait for one row leave the connections to others', async () => {
  const [viewer, other] = [
    await joinTeam(app, organizationGuid, { role: 'viewer' }),
    await joinTeam(app, organizationGuid),
  ];
  const token = await tokenOf(app, tenant.organizationKey, everyScope('organization'));
  const calls: Promise<Answer>[] = [];
  await app.database.maintain((queries) =>
    queries.transaction().execute(async (transaction) => {
      await sql`select from memberships where member_guid = ${viewer.memberGuid} for update`.execute(
        transaction,
      );
      for (let call = 0; call < 120; call++) calls.push(saveFilter(viewer, `filter ${call % 10}`));
      await until(async () => (await lockWaits(app.database.reserved)) === 2);
      assert.equal((await app.call({ url: '/api/banks', token })).status, 200);
      assert.equal((await saveFilter(other, 'mine')).status, 201);
      assert.equal(await lockWaits(app.database.reserved), 2);
    }),
  );
  const statuses = (await Promise.all(calls)).map(({ status }) => status);
  const count = (wanted: number) => statuses.filter((status) => status === wanted).length;
  assert.ok(count(201) >= MAX_IN_FLIGHT && count(403) > 0, JSON.stringify(statuses));
  // 503: session lookups that wait are limited for each network.
  assert.equal(count(201) + count(403) + count(503), calls.length, JSON.stringify(statuses));
  assert.equal((await getSession(viewer)).status, 200);
});

test('a member over 300 calls in a minute is refused until the next, other members are not', async () => {
  app.clock.advance(60_000 - (app.clock.now().getTime() % 60_000));
  const [person, other] = [await joinTeam(app, organizationGuid), await joinTeam(app, organizationGuid)];
  for (let call = 0; call < CALLS_PER_MINUTE; call++) assert.equal((await getSession(person)).status, 200);
  const refused = await getSession(person);
  assertError(refused, 403, 'rate_limit_exceeded', /try again in/);
  assert.ok(Number(refused.headers['retry-after']) > 0);
  assertError(await saveFilter(person, 'late'), 403, 'rate_limit_exceeded');
  assert.equal((await getSession(other)).status, 200);
  app.clock.advance(60_000);
  assert.equal((await getSession(person)).status, 200);
});

test('changes of the name count against the limit of the account', async () => {
  const person = await joinTeam(app, organizationGuid);
  const rename = (name: string) => browse(app, 'PATCH', '/account', { as: person, payload: { name } });
  for (let change = 0; change < 20; change++) assert.equal((await rename(`Name ${change}`)).status, 200);
  assertError(await rename('Another'), 403, 'rate_limit_exceeded');
});
