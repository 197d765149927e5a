import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectsOf } from '../../testing/api/answers.ts';
import { assertError, createTestApp } from '../../testing/app/app.ts';
import { createTenant } from '../../testing/app/tenant.ts';
import { browse, joinTeam, tokenInLink } from '../../testing/people/dashboard.ts';

const app = await createTestApp();
const { organizationGuid } = await createTenant(app);
const path = `/organizations/${organizationGuid}/members`;
const NIL_GUID = '0'.repeat(32);

test('the operator invites, lists and removes members of any Organization', async () => {
  const { status, body } = await app.operate('POST', path, { email: 'ada@partner.example', role: 'founder' });
  assert.equal(status, 201, JSON.stringify(body));
  tokenInLink(body.invitation_link);
  const listed = await app.operate('GET', path);
  assert.deepEqual(
    objectsOf(listed).map(({ email, role, state }) => [email, role, state]),
    [['ada@partner.example', 'founder', 'invited']],
  );
  assert.equal('invitation_link' in (objectsOf(listed)[0] ?? {}), false, 'shown once');
  assert.equal((await app.operate('DELETE', `${path}/${body.guid}`)).status, 204);
  assert.deepEqual(objectsOf(await app.operate('GET', path)), []);
  assertError(await app.operate('DELETE', `${path}/${body.guid}`), 404, 'not_found');
});

test('unknown members and Organizations: 404', async () => {
  const unknown = `/organizations/${NIL_GUID}/members`;
  const input = { email: 'a@partner.example', role: 'viewer' };
  assertError(await app.operate('POST', unknown, input), 404, 'not_found');
  assertError(await app.operate('GET', unknown), 404, 'not_found');
  assertError(await app.operate('DELETE', `${unknown}/${NIL_GUID}`), 404, 'not_found');
  assertError(await app.operate('DELETE', `${path}/${NIL_GUID}`), 404, 'not_found');
  assertError(await app.operate('POST', `/members/${NIL_GUID}/password_reset`, {}), 404, 'not_found');
});

test('a member is not removed through another Organization', async () => {
  const person = await joinTeam(app, organizationGuid);
  const other = await createTenant(app);
  const wrong = `/organizations/${other.organizationGuid}/members/${person.memberGuid}`;
  assertError(await app.operate('DELETE', wrong), 404, 'not_found');
  assert.equal((await browse(app, 'GET', '/session', { as: person })).status, 200);
});

test('a password link is valid for a day', async () => {
  const person = await joinTeam(app, organizationGuid);
  const { body } = await app.operate('POST', `/members/${person.memberGuid}/password_reset`, {});
  const tomorrow = new Date(app.clock.now().getTime() + 24 * 3_600_000);
  assert.equal(body.expires_at, tomorrow.toISOString());
  tokenInLink(body.link);
});

test('the list has pages', async () => {
  const tenant = await createTenant(app);
  const members = `/organizations/${tenant.organizationGuid}/members`;
  for (let i = 0; i < 5; i++)
    await app.operate('POST', members, { email: `p${i}@a.example`, role: 'viewer' });
  const emails: unknown[] = [];
  let after = '';
  do {
    const { body } = await app.operate('GET', `${members}?per_page=2${after && `&after=${after}`}`);
    assert.equal(body.total, 5);
    emails.push(...(body.objects as { email: string }[]).map(({ email }) => email));
    after = String(body.next ?? '');
  } while (after !== '');
  assert.deepEqual(emails, ['p4@a.example', 'p3@a.example', 'p2@a.example', 'p1@a.example', 'p0@a.example']);
});
