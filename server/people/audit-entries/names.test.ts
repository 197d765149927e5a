import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectsOf } from '../../../testing/api/answers.ts';
import { createTestApp } from '../../../testing/app/app.ts';
import { createTenant } from '../../../testing/app/tenant.ts';
import { browse, dashboardToken, joinTeam } from '../../../testing/people/dashboard.ts';
import { createSubscription } from '../../../testing/webhooks/subscriptions.ts';

const app = await createTestApp();
const tenant = await createTenant(app);
const { organizationGuid, bankGuid } = tenant;
const founder = await joinTeam(app, organizationGuid);
await browse(app, 'PATCH', '/account', { as: founder, payload: { name: 'Ada' } });
const token = await dashboardToken(app, founder, organizationGuid);

const entriesOf = async (query: string) =>
  objectsOf(await app.call({ url: `/api/audit_entries?${query}`, token }));
const namesOf = async (query: string) =>
  (await entriesOf(query)).map(({ actor_name, object_name }) => [actor_name, object_name]);
const call = async (method: 'POST' | 'PATCH' | 'DELETE', path: string, payload?: object) => {
  const { status, body } = await app.call({ method, url: `/api${path}`, token, ...(payload && { payload }) });
  assert.ok(status < 300, JSON.stringify(body));
  return body;
};

test('a member is named as actor and object, and by email without a name or after leaving', async () => {
  const invited = await call('POST', '/members', { email: 'lin@partner.example', role: 'viewer' });
  assert.deepEqual(await namesOf(`object_id=${invited.guid}`), [['Ada', 'lin@partner.example']]);
  const person = await joinTeam(app, organizationGuid, { email: 'grace@partner.example' });
  await browse(app, 'PATCH', '/account', { as: person, payload: { name: 'Grace' } });
  const accepted = `object_id=${person.memberGuid}&action=member.accept`;
  assert.deepEqual(await namesOf(accepted), [['Grace', 'Grace']]);
  await call('DELETE', `/members/${person.memberGuid}`);
  const [entry] = await entriesOf(accepted);
  assert.deepEqual(
    [entry?.actor_name, entry?.actor_email, entry?.object_name],
    [undefined, 'grace@partner.example', 'grace@partner.example'],
  );
});

test('an object has its current name, and its last one after it was deleted', async () => {
  const key = await call('POST', '/bank_applications', {
    ...{ name: 'Payouts', bank_guid: bankGuid, ip_allowlist: ['198.35.26.96'] },
  });
  const ofKey = `object_id=${key.client_id}`;
  await call('PATCH', `/bank_applications/${key.client_id}`, { name: 'Payroll' });
  assert.deepEqual(await namesOf(ofKey), [
    ['Ada', 'Payroll'],
    ['Ada', 'Payroll'],
  ]);
  await call('DELETE', `/bank_applications/${key.client_id}`);
  assert.deepEqual(
    (await namesOf(ofKey)).map(([, name]) => name),
    ['Payroll', 'Payroll', 'Payroll'],
  );
  const { guid } = await createSubscription(app, tenant, { name: 'Ledger' });
  assert.deepEqual(
    (await namesOf(`object_id=${guid}`)).map(([, name]) => name),
    ['Ledger'],
  );
  await app.database.queries.updateTable('subscriptions').set({ deleted_at: app.clock.now() }).execute();
  assert.deepEqual(
    (await namesOf(`object_id=${guid}`)).map(([, name]) => name),
    ['Ledger'],
  );
  const bank = await call('POST', '/banks', { name: 'First' });
  assert.deepEqual(await namesOf(`object_id=${bank.guid}`), [['Ada', 'First']]);
});

test('a name that only another Organization recorded is not shown', async () => {
  const other = await createTenant(app);
  const record = { actor_type: 'system' as const, actor: 'portico', created_at: app.clock.now() };
  const key = 'f'.repeat(32);
  const insert = (organization: string, name?: string) =>
    app.database.queries
      .insertInto('audit_records')
      .values({
        ...record,
        guid: app.guids.next(),
        organization_guid: organization,
        ...{ action: 'application.test', object_type: 'application', object_id: key },
        changes: JSON.stringify(name === undefined ? {} : { name }),
        ...{ address: null, request_id: null },
      })
      .execute();
  await insert(other.organizationGuid, 'Foreign');
  await insert(organizationGuid);
  assert.deepEqual(await namesOf(`object_id=${key}`), [[undefined, undefined]]);
});

test('an update records the values that it replaced and its request id', async () => {
  const { guid } = await createSubscription(app, tenant, { name: 'Old' });
  const member = await joinTeam(app, organizationGuid, { role: 'viewer' });
  const renamed = await app.call({
    ...{ method: 'PATCH', url: `/api/subscriptions/${guid}`, token },
    payload: { name: 'New' },
  });
  assert.equal(renamed.status, 200);
  await call('PATCH', `/members/${member.memberGuid}`, { role: 'developer' });
  await app.operate('PATCH', `/subscriptions/${guid}`, { disabled: true });
  await app.operate('PATCH', `/banks/${bankGuid}`, { name: 'Second' });
  const changes = async (query: string) =>
    (await entriesOf(query)).map(({ before, changes }) => [before, changes]);
  assert.deepEqual(await changes(`object_id=${guid}&action=subscription.update`), [
    [{ disabled: false }, { disabled: true }],
    [{ name: 'Old' }, { name: 'New' }],
  ]);
  assert.deepEqual(await changes(`object_id=${member.memberGuid}&action=member.update`), [
    [{ role: 'viewer' }, { role: 'developer' }],
  ]);
  assert.deepEqual(await changes(`object_id=${bankGuid}&action=bank.update`), [
    [{ name: 'Bank' }, { name: 'Second' }],
  ]);
  const [, entry] = await entriesOf(`object_id=${guid}&action=subscription.update`);
  assert.equal(entry?.request_id, renamed.headers['x-request-id']);
  const [created] = await entriesOf(`object_id=${guid}&action=subscription.create`);
  assert.ok(created && !('before' in created));
});
