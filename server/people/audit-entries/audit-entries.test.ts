import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectsOf } from '../../../testing/api/answers.ts';
import { assertError, createTestApp } from '../../../testing/app/app.ts';
import { createTenant } from '../../../testing/app/tenant.ts';
import { dashboardToken, joinTeam } from '../../../testing/people/dashboard.ts';
import { firstGuidAt } from '../../infrastructure/runtime/guid.ts';
import type { Role } from '../../tokens/roles.ts';

const app = await createTestApp();
const tenant = await createTenant(app);
const { organizationGuid } = tenant;
const founder = await joinTeam(app, organizationGuid, { email: 'founder@partner.example' });
const token = await dashboardToken(app, founder, organizationGuid);

const list = async (query = '', as = token) =>
  objectsOf(await app.call({ url: `/api/audit_entries${query}`, token: as }));
const rename = (name: string, remoteAddress = '192.0.2.7') =>
  app.call({
    method: 'PATCH',
    url: `/api/organization_applications/${tenant.organizationKey.clientId}`,
    token,
    payload: { name },
    remoteAddress,
  });

async function csv(query = ''): Promise<string[]> {
  const url = `/api/audit_entries.csv${query}`;
  const { statusCode, body, headers } = await app.server.inject({
    url,
    headers: { authorization: `Bearer ${token}` },
  });
  assert.equal(statusCode, 200, body);
  assert.match(String(headers['content-type']), /^text\/csv/);
  assert.equal(headers['content-disposition'], 'attachment; filename="audit-entries.csv"');
  return body.split('\r\n');
}

test('a Founder reads the audit entries of the Organization with their actors', async () => {
  const path = `/api/organization_applications/${tenant.organizationKey.clientId}`;
  const { name: original } = (await app.call({ url: path, token })).body;
  assert.equal((await rename('Renamed')).status, 200);
  const [newest] = await list();
  const { guid, request_id, ...entry } = newest ?? {};
  assert.match(String(guid), /^[0-9a-f]{32}$/);
  assert.match(String(request_id), /^[0-9a-f]{32}$/);
  assert.deepEqual(entry, {
    actor_type: 'user',
    actor: founder.memberGuid,
    actor_email: 'founder@partner.example',
    action: 'organization_application.update',
    object_type: 'organization_application',
    object_id: tenant.organizationKey.clientId,
    object_name: 'Renamed',
    changes: { name: 'Renamed' },
    before: { name: original },
    address: '192.0.2.7',
    created_at: app.clock.now().toISOString(),
  });
});

test('addresses of the operator are hidden', async () => {
  const byOperator = (await list()).filter(({ actor_type }) => actor_type === 'operator');
  assert.ok(byOperator.length > 0);
  assert.ok(byOperator.every((entry) => !('address' in entry)));
});

test('Founder and Key Admin have access, Developer and Viewer do not', async () => {
  for (const role of ['founder', 'key_admin', 'developer', 'viewer'] as Role[]) {
    const person = await joinTeam(app, organizationGuid, { role });
    const theirs = await dashboardToken(app, person, organizationGuid);
    for (const url of ['/api/audit_entries', '/api/audit_entries.csv']) {
      const answer = await app.call({ url, token: theirs });
      if (role === 'founder' || role === 'key_admin') assert.equal(answer.status, 200, role);
      else assertError(answer, 403, 'invalid_scopes', /audit_entries:read$/);
    }
  }
});

test('entries of another Organization are never listed', async () => {
  const other = await createTenant(app);
  const stranger = await joinTeam(app, other.organizationGuid);
  const theirs = await dashboardToken(app, stranger, other.organizationGuid);
  for (const query of [
    '',
    `?object_id=${tenant.organizationKey.clientId}`,
    `?actor=${founder.memberGuid}`,
    '?action=organization_application.update',
  ]) {
    const entries = await list(query, theirs);
    assert.ok(
      entries.every(({ object_id }) => object_id !== tenant.organizationKey.clientId),
      query,
    );
    assert.ok(
      entries.every(({ actor }) => actor !== founder.memberGuid),
      query,
    );
  }
});

test('the list is filtered by action, actor, object and time', async () => {
  app.clock.advance(60_000);
  const from = app.clock.now();
  await rename('One');
  app.clock.advance(60_000);
  const until = app.clock.now();
  await rename('Two');
  const names = async (query: string) =>
    (await list(query)).map(({ changes }) => (changes as { name?: string }).name);
  const action = 'action=organization_application.update';
  assert.deepEqual((await names(`?${action}`)).slice(0, 2), ['Two', 'One']);
  assert.deepEqual((await names(`?actor=${founder.memberGuid}&${action}`)).slice(0, 2), ['Two', 'One']);
  assert.deepEqual(await names(`?${action}&created_at_gte=${until.toISOString()}`), ['Two']);
  const window = `created_at_gte=${from.toISOString()}&created_at_lt=${until.toISOString()}`;
  assert.deepEqual(await names(`?${window}`), ['One']);
  assert.deepEqual(await names('?action=nothing.such'), []);
  const [header, line, end] = await csv(`?${window}`);
  assert.equal(
    header,
    '"created_at","actor_type","actor","actor_email","action","object_type","object_id","changes","address","request_id","guid","actor_name","object_name","before"',
  );
  assert.match(
    String(line),
    /^"2026-.*","user",.*"founder@partner\.example".*"\{""name"":""One""\}","192\.0\.2\.7"/,
  );
  assert.equal(end, '');
});

test('formulas are exported as text', async () => {
  const { csvLine } = await import('./csv.ts');
  for (const evil of ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', ' =1', '|calc'])
    assert.equal(csvLine([evil]), `"'${evil}"\r\n`);
  assert.equal(csvLine(['say "hi", you', 'a\nb', '']), '"say ""hi"", you","a\nb",""\r\n');
});

test('a long record is exported completely, newest first, in chunks', async () => {
  const rows = 1_203;
  const moment = app.clock.now();
  await app.database.queries
    .insertInto('audit_records')
    .values(
      Array.from({ length: rows }, (_, i) => ({
        guid: `${firstGuidAt(moment).slice(0, 12)}${i.toString(16).padStart(20, '0')}`,
        organization_guid: organizationGuid,
        actor_type: 'system' as const,
        actor: 'portico',
        action: 'test.export',
        object_type: 'test',
        object_id: String(i),
        changes: '{}',
        address: null,
        request_id: null,
        created_at: moment,
      })),
    )
    .execute();
  const [, ...lines] = await csv('?action=test.export');
  const ids = lines.slice(0, -1).map((line) => Number(line.split(',')[6]?.replaceAll('"', '')));
  assert.deepEqual(
    ids,
    Array.from({ length: rows }, (_, i) => rows - 1 - i),
  );
});
