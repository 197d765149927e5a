import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { sql } from 'kysely';
import { createCallers, issueToken } from '../../../testing/api/api-callers.ts';
import { validCallOf } from '../../../testing/api/api-calls.ts';
import { type Operation, readOperations } from '../../../testing/api/operations.ts';
import { assertError, createTestApp, OPERATOR_TOKEN } from '../../../testing/app/app.ts';
import type { TokenType } from '../../tokens/claims.ts';

/** Every POST of /api and /operator in the OpenAPI document, also those that are added later. */
const app = await createTestApp();
const owner = await createCallers(app);
const operations = await readOperations(app);
const creations = operations.filter(
  ({ method, path }) => method === 'POST' && /^\/(api|operator)\//.test(path),
);
/** Written by every request, or by the time. */
const CHANGING = ['rate_limits', 'event_counters', 'event_count_writers', 'verifying_nodes'];

function takesKey({ parameters = [] }: Operation): boolean {
  return parameters.some((parameter) => parameter.in === 'header' && parameter.name === 'Idempotency-Key');
}

async function tokenFor(operation: Operation): Promise<string> {
  if (operation.path.startsWith('/operator/')) return OPERATOR_TOKEN;
  return issueToken(app, owner, operation['x-token-types']?.[0] as TokenType);
}

/** The number of rows of every table. */
async function countRows(): Promise<Record<string, number>> {
  const { queries } = app.database;
  const { rows: tables } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition
      and has_table_privilege(oid, 'select') and relname <> all(${CHANGING})
    order by relname`.execute(queries);
  const counts: Record<string, number> = {};
  for (const { name } of tables) {
    const { rows } = await sql<{ count: number }>`select count(*) from ${sql.table(name)}`.execute(queries);
    counts[name] = rows[0]?.count ?? 0;
  }
  return counts;
}

/** The same value with one field changed, still valid by its schema. */
function changed(value: unknown, name = ''): unknown {
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'string') {
    if (/^[0-9a-f]{32}$/.test(value)) return value.replace(/.$/, (last) => (last === 'f' ? 'e' : 'f'));
    return ['name', 'filename', 'email'].includes(name) ? `a${value}` : undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [field, part] of Object.entries(value)) {
    const other = changed(part, field);
    if (other === undefined) continue;
    return Array.isArray(value) ? value.with(Number(field), other) : { ...value, [field]: other };
  }
  return undefined;
}

test('every POST of /api and /operator accepts an Idempotency-Key, and no other operation', () => {
  assert.ok(creations.length > 20);
  assert.deepEqual(
    operations.filter(takesKey).map(({ operationId }) => operationId),
    creations.map(({ operationId }) => operationId),
  );
  for (const { operationId, responses } of creations)
    for (const status of ['409', '422'])
      assert.match(String(responses[status]?.description), /Idempotency-Key/, `${operationId} ${status}`);
});

for (const operation of creations) {
  const { operationId, path } = operation;
  const showsSecret = operation['x-shows-secret'] === true;

  test(`${operationId}: a repeated request creates nothing again`, async () => {
    const valid = await validCallOf(app, operation, owner);
    const token = await tokenFor(operation);
    const headers = { 'idempotency-key': randomUUID() };
    const call = (other: object = {}) => app.call({ ...valid, token, headers, ...other });

    const first = await call();
    assert.ok(first.status >= 200 && first.status < 300, JSON.stringify(first.body));
    assert.equal(first.headers['idempotency-replayed'], undefined);
    const before = await countRows();
    const repeated = await call();
    assert.deepEqual(await countRows(), before);
    if (showsSecret) {
      assertError(repeated, 409, 'idempotency_secret_shown');
      const kept = app.database.queries.selectFrom('idempotency_keys').select('body_encrypted');
      const { body_encrypted: body } = await kept
        .where('key', '=', headers['idempotency-key'])
        .executeTakeFirstOrThrow();
      assert.equal(body, null, 'nothing of the answer is kept');
    } else {
      assert.equal(repeated.status, first.status);
      assert.equal(JSON.stringify(repeated.body), JSON.stringify(first.body));
      assert.equal(repeated.headers['idempotency-replayed'], 'true');
    }

    const payload = changed(valid.payload);
    const url = valid.url.replace(/[0-9a-f]{32}/, (guid) => String(changed(guid)));
    const other = payload ? { payload } : { url };
    if (payload || url !== valid.url) assertError(await call(other), 422, 'idempotency_key_reused');
    else assert.match(path, /\/(rotate|test)$/, `no field of ${operationId} can be changed`);
    assert.deepEqual(await countRows(), before);
    assert.ok(!app.logged.some((line) => line.includes(headers['idempotency-key'])), path);
  });
}

test('a key of one operation is refused by another', async () => {
  const headers = { 'idempotency-key': randomUUID() };
  const call = { method: 'POST', token: OPERATOR_TOKEN, headers } as const;
  assert.equal((await app.call({ ...call, url: '/operator/master_key/rotate' })).status, 200);
  assertError(
    await app.call({ ...call, url: '/operator/signing_keys/rotate' }),
    422,
    'idempotency_key_reused',
  );
});
