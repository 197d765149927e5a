import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answer, assertError, createTestApp } from '../../../testing/app/app.ts';
import { createTenant } from '../../../testing/app/tenant.ts';
import { lockWaits } from '../../../testing/database/locks.ts';
import { browse, dashboardToken, joinTeam, type Person } from '../../../testing/people/dashboard.ts';

/** Changes that were admitted before the token of their author was revoked, and commit after it. */
const app = await createTestApp({ environment: { PORTICO_DATABASE_CONNECTIONS: '20' } });
const { organizationGuid } = await createTenant(app);
const founder = await joinTeam(app, organizationGuid);
const byFounder = await dashboardToken(app, founder, organizationGuid);

const removal = ({ memberGuid }: Person) =>
  app.call({ method: 'DELETE', url: `/api/members/${memberGuid}`, token: byFounder });

/** Runs the calls in this order until both wait for the row of the Organization, or have ended. */
async function inOrder(...calls: (() => Promise<Answer>)[]): Promise<Answer[]> {
  const answers: Promise<Answer>[] = [];
  await app.database.transaction(async (transaction) => {
    const row = transaction.selectFrom('organizations').select('guid').where('guid', '=', organizationGuid);
    await row.forUpdate().execute();
    for (const call of calls) {
      const waiting = await lockWaits(app.database.reserved);
      let hasEnded = false;
      const end = () => {
        hasEnded = true;
      };
      answers.push(call().finally(end));
      while (!hasEnded && (await lockWaits(app.database.reserved)) === waiting);
    }
  });
  return Promise.all(answers);
}

async function keyAdmin() {
  const person = await joinTeam(app, organizationGuid, { role: 'key_admin' });
  const token = await dashboardToken(app, person, organizationGuid);
  return {
    person,
    create: (url: string, payload: object) => app.call({ method: 'POST', url, payload, token }),
  };
}

async function keyCount(): Promise<unknown> {
  return (await app.call({ url: '/api/organization_applications', token: byFounder })).body.total;
}

const KEYS = '/api/organization_applications';
const key = { name: 'Late', ip_allowlist: ['198.35.26.96'] };
const subscription = { type: 'webhook', name: 'Late', url: 'https://late.example/', environment: 'sandbox' };

test('a member who is removed meanwhile creates no key pair and no subscription', async () => {
  for (const [url, payload] of [
    [KEYS, key],
    ['/api/subscriptions', subscription],
  ] as const) {
    const { person, create } = await keyAdmin();
    const [removed, created] = await inOrder(
      () => removal(person),
      () => create(url, payload),
    );
    assert.equal(removed?.status, 204);
    assertError(created as Answer, 401, 'authentication_failed');
  }
  assert.equal(await keyCount(), 1, 'the key of the tenant');
});

test('a session that ends meanwhile creates no key pair', async () => {
  const { person, create } = await keyAdmin();
  const [created, ended] = await inOrder(
    () => create(KEYS, key),
    () => browse(app, 'POST', '/logout', { as: person, payload: {} }),
  );
  assert.equal(ended?.status, 204);
  assertError(created as Answer, 401, 'authentication_failed');
  assert.equal(await keyCount(), 1);
});
