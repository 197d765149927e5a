import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditRecordsOf, soleRecord } from '../../../testing/api/answers.ts';
import { createCallers, issueToken } from '../../../testing/api/api-callers.ts';
import { assertError, createTestApp } from '../../../testing/app/app.ts';
import { userToken } from '../../../testing/app/tenant.ts';
import type { Role } from '../../tokens/roles.ts';

/** /api/organizations. */
const app = await createTestApp();
const owner = await createCallers(app);
const stranger = await createCallers(app);
const url = `/api/organizations/${owner.organizationGuid}`;
const token = await issueToken(app, owner, 'organization');
const rename = (as: string, name: string) => app.call({ method: 'PATCH', url, token: as, payload: { name } });

test('an Organization and a user token get and list their own Organization only', async () => {
  const { body: known } = await app.operate('GET', `/organizations/${owner.organizationGuid}`);
  const { second_factor_roles, second_factor_in_production, ...own } = known;
  for (const type of ['organization', 'user'] as const) {
    const as = await issueToken(app, owner, type);
    assert.deepEqual((await app.call({ url, token: as })).body, own);
    const { body } = await app.call({ url: '/api/organizations', token: as });
    assert.deepEqual(body, { total: 1, page: 0, per_page: 20, objects: [own] });
    const beyond = await app.call({ url: '/api/organizations?page=1', token: as });
    assert.deepEqual(beyond.body, { total: 1, page: 1, per_page: 20, objects: [] });
    const other = `/api/organizations/${stranger.organizationGuid}`;
    assertError(await app.call({ url: other, token: as }), 404, 'not_found');
    const payload = { name: 'Taken' };
    assertError(await app.call({ method: 'PATCH', url: other, token: as, payload }), 404, 'not_found');
  }
});

test('a new name is recorded and emits no event', async () => {
  const { body: before } = await app.call({ url, token });
  app.clock.advance(1_000);
  const { status, body } = await rename(token, 'Acme Holding');
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(body, { ...before, name: 'Acme Holding', updated_at: app.clock.now().toISOString() });
  assert.deepEqual((await app.call({ url, token })).body, body);
  assert.deepEqual((await rename(token, 'Acme Holding')).body, body);
  const record = soleRecord(await auditRecordsOf(app, owner.organizationGuid, 'organization.update'));
  assert.deepEqual(
    [record.actor_type, record.actor, record.changes],
    ['application', owner.organizationKey.clientId, { name: 'Acme Holding' }],
  );
  const events = app.database.queries.selectFrom('events').select('event_type');
  assert.deepEqual(await events.where('object_guid', '=', owner.organizationGuid).execute(), []);
});

test('a partner changes only the name', async () => {
  for (const field of ['live', 'features', 'second_factor_roles']) {
    const answer = await app.call({ method: 'PATCH', url, token, payload: { [field]: true } });
    assertError(answer, 400, 'invalid_parameter', `${field} is not a parameter of this operation`);
  }
});

test('Founder and Key Admin rename the Organization, without a fresh proof; other roles read it', async () => {
  const as = (role: Role) => userToken(app, owner.organizationGuid, role);
  for (const role of ['founder', 'key_admin'] as const)
    assert.equal((await rename(await as(role), `By ${role}`)).status, 200, role);
  for (const role of ['developer', 'viewer'] as const) {
    assertError(await rename(await as(role), 'Refused'), 403, 'invalid_scopes');
    assert.equal((await app.call({ url, token: await as(role) })).status, 200, role);
  }
  const unproved = await issueToken(app, owner, 'user', { provedAt: 'never' });
  assert.equal((await rename(unproved, 'Acme')).status, 200);
});

test('bank and customer tokens are refused', async () => {
  for (const type of ['bank', 'customer'] as const) {
    const refused = await issueToken(app, owner, type);
    for (const path of [url, '/api/organizations'])
      assertError(await app.call({ url: path, token: refused }), 403, 'invalid_scopes');
    assertError(await rename(refused, 'Refused'), 403, 'invalid_scopes');
  }
});
