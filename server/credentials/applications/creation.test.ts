import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { objectsOf } from '../../../testing/api/answers.ts';
import { assertError, createTestApp } from '../../../testing/app/app.ts';
import { createTenant, everyScope, tokenOf, userToken } from '../../../testing/app/tenant.ts';
import { createCustomer, customerToken } from '../../../testing/objects/customers.ts';
import { allScopes, scopesFor } from '../../tokens/scopes.ts';

/** Creation of key pairs (contract, section 6), only by user tokens of roles that manage keys. */
const app = await createTestApp();
const tenant = await createTenant(app);
const other = await createTenant(app);
const ABSENT = '0'.repeat(32);
const IP_ALLOWLIST = ['198.35.26.96', '193.0.6.0/24'];

const KINDS = [
  { kind: 'organization', url: '/api/organization_applications', owner: {} },
  { kind: 'bank', url: '/api/bank_applications', owner: { bank_guid: tenant.bankGuid } },
] as const;

async function create(url: string, input: object, token?: string) {
  const founder = token ?? (await userToken(app, tenant.organizationGuid));
  return app.call({ method: 'POST', url, token: founder, payload: input });
}

for (const { kind, url, owner } of KINDS) {
  const input = { name: 'Ledger', ip_allowlist: IP_ALLOWLIST, ...owner };

  test(`a Founder or Key Admin user token creates ${kind} key pairs`, async () => {
    for (const role of ['founder', 'key_admin'] as const) {
      const answer = await create(url, input, await userToken(app, tenant.organizationGuid, role));
      assert.equal(answer.status, 201, JSON.stringify(answer.body));
      const { client_id, client_secret, ...rest } = answer.body;
      const now = app.clock.now().toISOString();
      assert.match(String(client_id), /^[0-9a-f]{32}$/);
      assert.match(String(client_secret), /^portico_sk_/);
      assert.deepEqual(rest, {
        ...{ name: 'Ledger', ip_allowlist: IP_ALLOWLIST, ...owner, scopes: scopesFor(kind) },
        ...{ created_at: now, updated_at: now },
      });
    }
  });

  test(`no other token creates ${kind} key pairs, even with every scope`, async () => {
    const { organizationGuid, organizationKey, bankKey } = tenant;
    const customer = await createCustomer(app, tenant.bankGuid);
    const tokens = {
      developer: await userToken(app, organizationGuid, 'developer'),
      viewer: await userToken(app, organizationGuid, 'viewer'),
      organization: await tokenOf(app, organizationKey, everyScope('organization')),
      bank: await tokenOf(app, bankKey, everyScope('bank')),
      customer: await customerToken(app, tenant, customer, allScopes()),
    };
    const list = async () =>
      objectsOf(await app.call({ url, token: await userToken(app, organizationGuid) })).length;
    const before = await list();
    for (const [holder, token] of Object.entries(tokens)) {
      const message = ['developer', 'viewer'].includes(holder) ? /_applications:write$/ : /a user token/;
      assertError(await create(url, input, token), 403, 'invalid_scopes', message);
    }
    assert.equal(await list(), before);
  });

  test(`new ${kind} keys must have a non-empty allowlist`, async () => {
    for (const ip_allowlist of [undefined, []])
      assertError(
        await create(url, { name: 'Ledger', ip_allowlist, ...owner }),
        422,
        'ip_allowlist_required',
        /^ip_allowlist /,
      );
  });

  test(`${kind} keys get the given scopes, sorted and without duplicates`, async () => {
    const answer = await create(url, {
      ...input,
      scopes: ['trades:read', 'customers:read', 'trades:read'],
    });
    assert.deepEqual(answer.body.scopes, ['customers:read', 'trades:read']);
  });

  test(`a scope that ${kind} keys cannot hold is refused by its index`, async () => {
    const beyond = kind === 'bank' ? 'banks:execute' : 'subscriptions:read';
    for (const scope of [beyond, 'trades:write', 'nonsense', '', '__proto__'])
      assertError(
        await create(url, { ...input, scopes: ['trades:read', scope] }),
        400,
        'invalid_parameter',
        /^scopes\[1\] /,
      );
  });

  test(`the name of ${kind} keys has 1 to 128 characters and is not blank`, async () => {
    assert.equal((await create(url, { ...input, name: 'x'.repeat(128) })).status, 201);
    for (const name of ['', ' \t', 'x'.repeat(129), 7])
      assertError(await create(url, { ...input, name }), 400, 'invalid_parameter', /^name /);
  });

  test(`the client cannot choose client_id, client_secret or the owner of new ${kind} keys`, async () => {
    for (const extra of [{ client_id: ABSENT }, { client_secret: 'x' }, { organization_guid: ABSENT }]) {
      const [field = ''] = Object.keys(extra);
      assertError(await create(url, { ...input, ...extra }), 400, 'invalid_parameter', new RegExp(field));
    }
  });
}

test('a bank key is created only for a bank of the caller’s Organization', async () => {
  const input = { name: 'Ledger', ip_allowlist: IP_ALLOWLIST };
  assertError(await create('/api/bank_applications', input), 400, 'missing_parameter', /^bank_guid /);
  for (const bank_guid of [other.bankGuid, ABSENT])
    assertError(await create('/api/bank_applications', { ...input, bank_guid }), 422, 'no_bank');
  const production = await createTenant(app, { environment: 'production' });
  const answer = await create(
    '/api/bank_applications',
    { ...input, bank_guid: production.bankGuid },
    await userToken(app, production.organizationGuid),
  );
  assert.equal(answer.status, 201, 'user tokens can access both environments');
});

test('an Organization and its banks have at most 10,000 key pairs, also with concurrent creations', async () => {
  const { organizationGuid, bankGuid } = await createTenant(app);
  const fill = (count: number) =>
    sql`
      insert into applications (client_id, organization_guid, bank_guid, name, scopes, ip_allowlist, secret_hash,
        secret_key_id, created_at, updated_at)
      select gen_random_uuid(), organization_guid, ${bankGuid}, name, scopes, ip_allowlist, secret_hash,
        secret_key_id, created_at, updated_at
      from applications cross join generate_series(1, ${count}::int)
      where organization_guid = ${organizationGuid} and bank_guid is null
      limit ${count} - (select count(*) from applications where organization_guid = ${organizationGuid})`.execute(
      app.database.queries,
    );
  await fill(9_999);
  const token = await userToken(app, organizationGuid);
  const answers = await Promise.all(
    KINDS.map(({ kind, url }) =>
      create(
        url,
        { name: 'Last', ip_allowlist: IP_ALLOWLIST, ...(kind === 'bank' && { bank_guid: bankGuid }) },
        token,
      ),
    ),
  );
  const [created, refused] = answers.sort((one, other) => one.status - other.status);
  assert.equal(created?.status, 201, JSON.stringify(created?.body));
  assert.ok(refused);
  assertError(refused, 422, 'application_limit_reached', /has 10000 key pairs/);
  const { client_id } = await app.database.queries
    .selectFrom('applications')
    .select('client_id')
    .where('organization_guid', '=', organizationGuid)
    .where('bank_guid', 'is', null)
    .executeTakeFirstOrThrow();
  const rotated = { name: 'Next', ip_allowlist: IP_ALLOWLIST, replaces_client_id: client_id };
  const next = await create('/api/organization_applications', rotated, token);
  assert.equal(next.status, 201, JSON.stringify(next.body));
  await fill(19_999);
  const again = { ...rotated, replaces_client_id: (next.body as { client_id: string }).client_id };
  const last = await create('/api/organization_applications', again, token);
  assert.equal(last.status, 201, JSON.stringify(last.body));
  const beyond = { ...rotated, replaces_client_id: (last.body as { client_id: string }).client_id };
  assertError(
    await create('/api/organization_applications', beyond, token),
    422,
    'application_limit_reached',
    /has 20000 key pairs/,
  );
});
