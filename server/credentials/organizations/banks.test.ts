import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditRecordsOf, objectsOf, soleRecord } from '../../../testing/answers.ts';
import { createCallers, issueToken } from '../../../testing/api-callers.ts';
import { assertError, createTestApp } from '../../../testing/app.ts';
import { eventTypesOf } from '../../../testing/subscriptions.ts';

/** /api/banks (contract, section 11). */
const app = await createTestApp();
const owner = await createCallers(app);
const tokens = {
  organization: await issueToken(app, owner, 'organization'),
  bank: await issueToken(app, owner, 'bank'),
  user: await issueToken(app, owner, 'user'),
  production: await issueToken(app, owner, 'organization', { environment: 'production' }),
};
const create = (token: string, payload: object) =>
  app.call({ method: 'POST', url: '/api/banks', token, payload });

test('an Organization token and a user token create a sandbox bank, which emits bank.created', async () => {
  for (const token of [tokens.organization, tokens.user]) {
    const { status, body } = await create(token, { name: 'Second' });
    const { guid, ...rest } = body;
    const now = app.clock.now().toISOString();
    assert.equal(status, 201, JSON.stringify(body));
    assert.deepEqual(rest, {
      ...{ organization_guid: owner.organizationGuid, name: 'Second', environment: 'sandbox' },
      ...{ created_at: now, updated_at: now },
    });
    assert.deepEqual(await eventTypesOf(app, String(guid)), ['bank.created']);
    assert.deepEqual((await app.call({ url: `/api/banks/${guid}`, token })).body, body);
  }
});

test('creating a production bank is refused', async () => {
  assertError(
    await create(tokens.production, { name: 'Live' }),
    422,
    'not_implemented',
    /^Banks can be created only in sandbox;/,
  );
  const answer = await create(tokens.user, { name: 'Live', environment: 'production' });
  assertError(answer, 400, 'invalid_parameter', /^environment /);
});

test('a new name emits bank.updated; the same name does not', async () => {
  const { body: bank } = await create(tokens.organization, { name: 'Old' });
  const url = `/api/banks/${bank.guid}`;
  const change = (payload: object) => app.call({ method: 'PATCH', url, token: tokens.organization, payload });
  app.clock.advance(1_000);
  assert.deepEqual((await change({})).body, bank);
  const { body } = await change({ name: 'New' });
  assert.deepEqual(body, { ...bank, name: 'New', updated_at: app.clock.now().toISOString() });
  assert.deepEqual(await eventTypesOf(app, String(bank.guid)), ['bank.created', 'bank.updated']);
  const record = soleRecord(await auditRecordsOf(app, String(bank.guid), 'bank.update'));
  assert.deepEqual(
    [record.actor_type, record.actor, record.changes],
    ['application', owner.organizationKey.clientId, { name: 'New' }],
  );
});

test('a bank token renames its own bank', async () => {
  const url = `/api/banks/${owner.bankGuid}`;
  const { status, body } = await app.call({
    ...{ method: 'PATCH', url, token: tokens.bank, payload: { name: 'Renamed' } },
  });
  assert.deepEqual([status, body.name], [200, 'Renamed']);
});

test('each token lists the banks that it can access, newest first', async () => {
  const of = await createCallers(app);
  const path = `/organizations/${of.organizationGuid}/banks`;
  const opened = await app.operate('POST', path, { name: 'Live', environment: 'production' });
  const second = await create(await issueToken(app, of, 'organization'), { name: 'Second' });
  const [live, added] = [String(opened.body.guid), String(second.body.guid)];
  const names = new Map([
    [live, 'live'],
    [added, 'second'],
    [of.bankGuid, 'first'],
  ] as const);
  const list = async (token: string, query = '') =>
    objectsOf(await app.call({ url: `/api/banks${query}`, token }))
      .map(({ guid }) => names.get(String(guid)))
      .join(' ');
  const organization = await issueToken(app, of, 'organization');
  const user = await issueToken(app, of, 'user');
  assert.equal(await list(organization), 'second first');
  assert.equal(await list(await issueToken(app, of, 'bank')), 'first');
  assert.equal(await list(user), 'second live first');
  const production = await issueToken(app, of, 'organization', { environment: 'production' });
  assert.equal(await list(production), 'live');
  const all = `?guid=${[...names.keys()]},${owner.bankGuid}`;
  assert.equal(await list(organization, all), 'second first');
  assert.equal(await list(user, `?guid=${live}`), 'live');
  assert.equal(await list(user, '?environment=production'), 'live');
  assert.equal(await list(user, '?type=production'), 'live');
  assert.equal(await list(user, '?type=production&type=sandbox'), 'second live first');
  assert.equal(await list(user, '?type=production&environment=sandbox'), '');
  assert.equal(await list(user, `?updated_at_gte=${app.clock.now().toISOString()}`), 'second live first');
  assert.equal(await list(user, `?updated_at_lt=${app.clock.now().toISOString()}`), '');
  assert.equal(await list(user, `?created_at_lt=${app.clock.now().toISOString()}`), '');
});
