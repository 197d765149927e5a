import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answer, assertError, createTestApp } from '../../../testing/app/app.ts';
import { createTenant, type Tenant, userToken } from '../../../testing/app/tenant.ts';
import type { Role } from '../../tokens/roles.ts';

/** `/api/inboxes`: endpoints in the sandbox that the service hosts. */
const app = await createTestApp();

async function call(
  { organizationGuid }: Tenant,
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  path = '/inboxes',
  payload?: object,
  role: Role = 'founder',
): Promise<Answer> {
  const token = await userToken(app, organizationGuid, role);
  return app.call({ method, url: `/api${path}`, token, ...(payload && { payload }) });
}

test('an inbox is created with an unguessable URL, changed and deleted; each change is audited', async () => {
  const tenant = await createTenant(app);
  const { status, body } = await call(tenant, 'POST', '/inboxes', { name: 'First look' });
  assert.equal(status, 201, JSON.stringify(body));
  const { guid, url, ...rest } = body;
  assert.match(String(url), /\/portico-inbox\/[0-9a-f]{32}$/);
  assert.deepEqual(rest, {
    name: 'First look',
    answer: 'success',
    created_at: app.clock.now().toISOString(),
  });
  const changed = await call(tenant, 'PATCH', `/inboxes/${guid}`, { answer: 'error' });
  assert.deepEqual(changed.body, { ...body, answer: 'error' });
  assert.deepEqual((await call(tenant, 'GET')).body.objects, [changed.body]);
  assert.equal((await call(tenant, 'DELETE', `/inboxes/${guid}`)).status, 204);
  assertError(await call(tenant, 'GET', `/inboxes/${guid}`), 404, 'not_found');
  const audited = await app.database.queries
    .selectFrom('audit_records')
    .select('action')
    .where('organization_guid', '=', tenant.organizationGuid)
    .where('object_id', '=', String(guid))
    .orderBy('guid')
    .execute();
  assert.deepEqual(
    audited.map(({ action }) => action),
    ['inbox.create', 'inbox.update', 'inbox.delete'],
  );
});

test('an Organization has at most 5 inboxes, also when they are created at once', async () => {
  const tenant = await createTenant(app);
  const made = await Promise.all(
    Array.from({ length: 7 }, (_, index) => call(tenant, 'POST', '/inboxes', { name: `Inbox ${index}` })),
  );
  const refused = made.filter(({ status }) => status !== 201);
  assert.equal(refused.length, 2);
  for (const answer of refused) assertError(answer, 422, 'inbox_limit_reached', /\(5\); delete one first/);
});

test('inboxes belong to their Organization and to the sandbox; every role reads, all but Viewers change', async () => {
  const [tenant, other] = [await createTenant(app), await createTenant(app)];
  const { guid } = (await call(tenant, 'POST', '/inboxes', { name: 'Mine' }, 'developer')).body;
  for (const path of [`/inboxes/${guid}`, `/inboxes/${guid}/requests`])
    assertError(await call(other, 'GET', path), 404, 'not_found');
  assertError(await call(other, 'PATCH', `/inboxes/${guid}`, { name: 'Theirs' }), 404, 'not_found');
  assertError(await call(other, 'DELETE', `/inboxes/${guid}`), 404, 'not_found');
  assert.deepEqual((await call(other, 'GET')).body.objects, []);
  assert.equal((await call(tenant, 'PATCH', `/inboxes/${guid}`, { name: 'Ours' }, 'developer')).status, 200);
  assert.equal((await call(tenant, 'GET', `/inboxes/${guid}`, undefined, 'viewer')).status, 200);
  assertError(await call(tenant, 'POST', '/inboxes', { name: 'No' }, 'viewer'), 403, 'invalid_scopes');
  assertError(
    await call(tenant, 'PATCH', `/inboxes/${guid}`, { name: 'No' }, 'viewer'),
    403,
    'invalid_scopes',
  );
  assertError(await call(tenant, 'DELETE', `/inboxes/${guid}`, undefined, 'viewer'), 403, 'invalid_scopes');
});
