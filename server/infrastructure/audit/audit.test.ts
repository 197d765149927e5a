import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { type Answer, assertError, createTestApp, OPERATOR_TOKEN } from '../../../testing/app/app.ts';
import { queriesOfOwner } from '../../../testing/database/database.ts';

const app = await createTestApp();
type Entry = Record<string, unknown>;

async function records(query: string): Promise<Entry[]> {
  const { status, body } = await app.operate('GET', `/audit_records?${query}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body.objects as Entry[];
}

/** Makes a change and asserts that exactly one complete record describes it. */
async function assertRecorded(
  action: string,
  change: () => Promise<Answer>,
  { changes, before, address = '127.0.0.1' }: { changes: object; before?: object; address?: string },
): Promise<Answer> {
  const { total: totalBefore } = (await app.operate('GET', '/audit_records')).body;
  app.clock.advance(1_000);
  const answer = await change();
  assert.ok(answer.status < 300, JSON.stringify(answer.body));
  const { body } = await app.operate('GET', '/audit_records');
  assert.equal(body.total, Number(totalBefore) + 1);
  const [{ guid, ...record } = {}] = body.objects as Entry[];
  assert.match(String(guid), /^[0-9a-f]{32}$/);
  assert.deepEqual(record, {
    organization_guid: answer.body.organization_guid ?? answer.body.guid,
    actor_type: 'operator',
    actor: 'operator',
    action,
    object_type: action.split('.')[0],
    object_id: answer.body.guid,
    changes,
    ...(before && { before }),
    address,
    request_id: answer.headers['x-request-id'],
    created_at: app.clock.now().toISOString(),
  });
  return answer;
}

test('each change has one record with actor, action, address and request id', async () => {
  const create = { name: 'Acme', features: ['files'] };
  const { body: organization } = await assertRecorded(
    'organization.create',
    () => app.operate('POST', '/organizations', create),
    { changes: create },
  );
  const update = { name: 'Acme Ltd' };
  await assertRecorded(
    'organization.update',
    () => app.operate('PATCH', `/organizations/${organization.guid}`, update),
    { changes: update, before: { name: 'Acme' } },
  );
  const newBank = { name: 'Bank', environment: 'sandbox' };
  const { body: bank } = await assertRecorded(
    'bank.create',
    () => app.operate('POST', `/organizations/${organization.guid}/banks`, newBank),
    { changes: newBank },
  );
  const renamed = { name: 'Other Bank' };
  await assertRecorded('bank.update', () => app.operate('PATCH', `/banks/${bank.guid}`, renamed), {
    changes: renamed,
    before: { name: 'Bank' },
  });
});

test('the address is that of the caller, in canonical form', async () => {
  for (const [remoteAddress, address] of [
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.8', '192.0.2.8'],
    ['2001:db8::1', '2001:db8::1'],
  ] as const) {
    const call = { method: 'POST', url: '/operator/organizations', token: OPERATOR_TOKEN } as const;
    const payload = { name: 'Acme' };
    await assertRecorded('organization.create', () => app.call({ ...call, payload, remoteAddress }), {
      changes: payload,
      address,
    });
  }
});

test('a caller on a link-local address with a zone causes no server error', async () => {
  const { status } = await app.call({
    method: 'POST',
    url: '/operator/organizations',
    token: OPERATOR_TOKEN,
    payload: { name: 'Acme' },
    remoteAddress: 'fe80::1%eth0',
  });
  assert.equal(status, 201);
});

test('reads and rejected calls leave no record', async () => {
  const total = async () => (await app.operate('GET', '/audit_records')).body.total;
  const before = await total();
  await app.operate('GET', '/organizations');
  await app.operate('POST', '/organizations', { name: '' });
  await app.operate('PATCH', `/organizations/${'0'.repeat(32)}`, { name: 'x' });
  await app.call({ method: 'POST', url: '/operator/organizations', payload: { name: 'x' } });
  assert.equal(await total(), before);
});

test('the database rejects updates and deletions of records', async () => {
  await app.operate('POST', '/organizations', { name: 'Acme' });
  const { queries } = app.database;
  const owner = queriesOfOwner(app.testDatabase);
  const count = () => queries.selectFrom('audit_records').select('guid').execute();
  const before = await count();
  for (const statement of [
    sql`update audit_records set actor = 'changed'`,
    sql`delete from audit_records`,
    sql`truncate audit_records`,
    sql`truncate audit_records cascade`,
    sql`update audit_records set actor = 'changed' where false`,
    sql`insert into audit_records select * from audit_records on conflict (guid) do update set actor = 'x'`,
  ])
    for (const [role, refused] of [
      [queries, /permission denied/],
      [owner, /append-only/],
    ] as const)
      await assert.rejects(statement.execute(role), refused);
  assert.deepEqual(await count(), before);
});

test('the list is filtered by organization, action and object', async () => {
  const organization = String((await app.operate('POST', '/organizations', { name: 'A' })).body.guid);
  const banks = `/organizations/${organization}/banks`;
  const { body: bank } = await app.operate('POST', banks, { name: 'B', environment: 'sandbox' });
  await app.operate('PATCH', `/banks/${bank.guid}`, { name: 'C' });
  await app.operate('POST', '/organizations', { name: 'Another' });

  const actions = async (query: string) => (await records(query)).map((record) => record.action);
  const mine = `organization_guid=${organization}`;
  assert.deepEqual(await actions(mine), ['bank.update', 'bank.create', 'organization.create']);
  assert.deepEqual(await actions(`${mine}&action=bank.create`), ['bank.create']);
  const two = 'action=bank.create,organization.create';
  assert.deepEqual(await actions(`${mine}&${two}`), ['bank.create', 'organization.create']);
  assert.deepEqual(await actions(`object_id=${bank.guid}`), ['bank.update', 'bank.create']);
  assert.deepEqual(await actions(`${mine}&action=nothing.such`), []);
  assertError(await app.operate('GET', '/audit_records?organization_guid=x'), 400, 'invalid_parameter');
});

test('the list is paged, newest first', async () => {
  const organization = String((await app.operate('POST', '/organizations', { name: '0' })).body.guid);
  for (let i = 1; i < 7; i++) await app.operate('PATCH', `/organizations/${organization}`, { name: `${i}` });
  const names: unknown[] = [];
  let after = '';
  do {
    const query = `organization_guid=${organization}&per_page=3${after && `&after=${after}`}`;
    const { body } = await app.operate('GET', `/audit_records?${query}`);
    assert.equal(body.total, 7);
    names.push(...(body.objects as { changes: { name: string } }[]).map(({ changes }) => changes.name));
    after = String(body.next ?? '');
  } while (after !== '');
  assert.deepEqual(names, ['6', '5', '4', '3', '2', '1', '0']);
  const second = await records(`organization_guid=${organization}&per_page=3&page=2`);
  assert.equal(second.length, 1);
});
