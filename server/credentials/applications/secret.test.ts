import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import { sql } from 'kysely';
import { auditRecordsOf } from '../../../testing/api/answers.ts';
import { assertError, createTestApp } from '../../../testing/app/app.ts';
import { createTenant, tokenOf, userToken } from '../../../testing/app/tenant.ts';

/** `client_secret`: shown once at creation, never retrievable afterwards (specification, Application). */
const app = await createTestApp();
const tenant = await createTenant(app);
const token = await userToken(app, tenant.organizationGuid);
const PATHS = { organization: '/api/organization_applications', bank: '/api/bank_applications' };

async function createPair(kind: keyof typeof PATHS) {
  const owner = kind === 'bank' ? { bank_guid: tenant.bankGuid } : {};
  const payload = { name: 'Ledger', ip_allowlist: ['198.35.26.96'], ...owner };
  const { status, body } = await app.call({ method: 'POST', url: PATHS[kind], token, payload });
  assert.equal(status, 201, JSON.stringify(body));
  return { clientId: String(body.client_id), secret: String(body.client_secret) };
}

/** Forms in which a secret could leak: itself, a part of it, encoded, or hashed without a key. */
function tracesOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [
    secret,
    secret.slice('portico_sk_'.length, -7),
    bytes.toString('hex'),
    bytes.toString('base64').replace(/=+$/, ''),
    createHash('sha256').update(secret).digest('hex'),
  ];
}

function assertAbsent(text: string, secret: string, place: string): void {
  for (const trace of tracesOf(secret)) assert.ok(!text.includes(trace), `${trace} is in ${place}`);
}

/** Every row of every table as text. */
async function dump(): Promise<string> {
  const { rows: tables } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables where table_schema = 'public'`.execute(
    app.database.queries,
  );
  assert.ok(tables.some(({ name }) => name === 'applications'));
  const texts: string[] = [];
  // One after the other: a query that waits five seconds for a connection is refused.
  for (const { name } of tables) {
    const { rows } = await sql<{ text: string }>`select r::text as text from ${sql.table(name)} as r`.execute(
      app.database.queries,
    );
    texts.push(...rows.map(({ text }) => text));
  }
  return texts.join('\n');
}

for (const kind of ['organization', 'bank'] as const) {
  test(`the secret of ${kind} keys is in the creation response and in no later one`, async () => {
    const { clientId, secret } = await createPair(kind);
    const url = `${PATHS[kind]}/${clientId}`;
    const answers = [
      await app.call({ url: PATHS[kind], token }),
      await app.call({ url, token }),
      await app.call({ method: 'PATCH', url, token, payload: { name: 'Renamed' } }),
    ];
    for (const { status, body } of answers) {
      assert.equal(status, 200);
      const text = JSON.stringify(body);
      assert.ok(text.includes(clientId));
      assert.doesNotMatch(text, /secret/);
      assertAbsent(text, secret, 'an answer');
    }
  });

  test(`the secret of ${kind} keys is neither logged nor in the audit log`, async () => {
    const pair = await createPair(kind);
    await tokenOf(app, pair, 'trades:read');
    assertError(
      await app.call({
        method: 'POST',
        url: '/oauth/token',
        payload: { grant_type: 'client_credentials', client_id: pair.clientId, client_secret: pair.secret },
      }),
      400,
      'invalid_scope',
    );
    assertAbsent(app.logged.join('\n'), pair.secret, 'the log');
    const [record] = await auditRecordsOf(app, pair.clientId);
    assert.equal(record?.action, `${kind}_application.create`);
    assert.deepEqual(Object.keys(record?.changes ?? {}).sort(), ['ip_allowlist', 'name', 'scopes']);
    assert.doesNotMatch(JSON.stringify(record), /secret/);
  });
}

test('the database holds a keyed hash of the secret and nothing that leads back to it', async () => {
  const { clientId, secret } = await createPair('organization');
  await tokenOf(app, { clientId, secret }, 'trades:read');
  assertAbsent(await dump(), secret, 'the database');
  const row = await app.database.queries
    .selectFrom('applications')
    .select('secret_hash')
    .where('client_id', '=', clientId)
    .executeTakeFirstOrThrow();
  assert.equal(row.secret_hash.length, 32);
});

test('client_secret is portico_sk_, 256 random bits and a checksum for secret scanners', async () => {
  const secrets = [(await createPair('organization')).secret, (await createPair('bank')).secret];
  assert.notEqual(secrets[0], secrets[1]);
  for (const secret of secrets) {
    const [, random = '', checksum = ''] = /^portico_sk_([\w-]{43})([0-9a-z]{7})$/.exec(secret) ?? [];
    assert.equal(Buffer.from(random, 'base64url').length * 8, 256, secret);
    assert.equal(checksum, crc32(random).toString(36).padStart(7, '0'));
  }
});

test('only the exact secret authenticates a key', async () => {
  const pair = await createPair('organization');
  const { secret: another } = await createPair('organization');
  for (const wrong of [another, `${pair.secret} `, pair.secret.slice(0, -1), pair.secret.toUpperCase(), ''])
    assertError(
      await app.call({
        method: 'POST',
        url: '/oauth/token',
        payload: {
          ...{ grant_type: 'client_credentials', client_id: pair.clientId, client_secret: wrong },
          scope: 'trades:read',
        },
      }),
      401,
      'invalid_client',
    );
});
