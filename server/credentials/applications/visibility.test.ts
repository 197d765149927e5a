import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectsOf } from '../../../testing/api/answers.ts';
import { assertError, createTestApp } from '../../../testing/app/app.ts';
import {
  createKey,
  createTenant,
  everyScope,
  type Key,
  PRODUCTION_HOST,
  tokenOf,
  userToken,
} from '../../../testing/app/tenant.ts';

/** Which key pairs each token may list, get and change (contract, sections 2 and 6). */
const app = await createTestApp();
const tenant = await createTenant(app);
const other = await createTenant(app);
const secondBank = await addBank('sandbox');
const productionBank = await addBank('production');

const ORGANIZATION = '/api/organization_applications';
const BANK = '/api/bank_applications';

async function addBank(environment: string): Promise<{ guid: string; key: Key }> {
  const path = `/organizations/${tenant.organizationGuid}/banks`;
  const { body } = await app.operate('POST', path, { name: environment, environment });
  const guid = String(body.guid);
  return { guid, key: await createKey(app, `/banks/${guid}/applications`, { name: 'Key' }) };
}

const tokens = {
  user: await userToken(app, tenant.organizationGuid),
  viewer: await userToken(app, tenant.organizationGuid, 'viewer'),
  organization: await tokenOf(app, tenant.organizationKey, everyScope('organization')),
  organizationInProduction: await tokenOf(app, tenant.organizationKey, everyScope('organization'), {
    host: PRODUCTION_HOST,
  }),
  bank: await tokenOf(app, tenant.bankKey, everyScope('bank')),
  bankInProduction: await tokenOf(app, productionBank.key, everyScope('bank'), { host: PRODUCTION_HOST }),
};
type Holder = keyof typeof tokens;

const bankKeys = {
  first: tenant.bankKey.clientId,
  second: secondBank.key.clientId,
  production: productionBank.key.clientId,
};
const SEEN: Record<Holder, (keyof typeof bankKeys)[]> = {
  user: ['production', 'second', 'first'],
  viewer: ['production', 'second', 'first'],
  organization: ['second', 'first'],
  organizationInProduction: ['production'],
  bank: ['first'],
  bankInProduction: ['production'],
};

const idsOf = async (url: string, holder: Holder) =>
  objectsOf(await app.call({ url, token: tokens[holder] })).map((object) => object.client_id);

for (const [name, seen] of Object.entries(SEEN)) {
  const holder = name as Holder;

  test(`the ${holder} token lists the bank keys of its banks, newest first`, async () => {
    assert.deepEqual(
      await idsOf(BANK, holder),
      seen.map((key) => bankKeys[key]),
    );
  });

  test(`the ${holder} token gets the bank keys that it lists; others are 404`, async () => {
    for (const [key, clientId] of Object.entries(bankKeys)) {
      const answer = await app.call({ url: `${BANK}/${clientId}`, token: tokens[holder] });
      if (!seen.includes(key as keyof typeof bankKeys)) assertError(answer, 404, 'not_found');
      else assert.deepEqual([answer.status, answer.body.client_id], [200, clientId]);
    }
  });

  test(`the ${holder} token cannot change a bank key that it cannot see`, async () => {
    for (const [key, clientId] of Object.entries(bankKeys)) {
      const payload = { name: `by ${holder}` };
      const options = { method: 'PATCH', url: `${BANK}/${clientId}`, payload } as const;
      const answer = await app.call({ ...options, token: tokens[holder] });
      if (holder === 'viewer') assertError(answer, 403, 'invalid_scopes');
      else if (!seen.includes(key as keyof typeof bankKeys)) assertError(answer, 404, 'not_found');
      else assert.deepEqual([answer.status, answer.body.name], [200, payload.name]);
    }
  });
}

test('Organization keys are seen at both issuers, by Organization and user tokens', async () => {
  const { clientId } = tenant.organizationKey;
  for (const holder of ['user', 'viewer', 'organization', 'organizationInProduction'] as const) {
    assert.deepEqual(await idsOf(ORGANIZATION, holder), [clientId]);
    const { body } = await app.call({ url: `${ORGANIZATION}/${clientId}`, token: tokens[holder] });
    assert.equal(body.client_id, clientId);
    assert.ok(!('bank_guid' in body), 'an Organization key has no bank');
  }
});

test('bank tokens see no Organization keys', async () => {
  const { clientId } = tenant.organizationKey;
  for (const url of [ORGANIZATION, `${ORGANIZATION}/${clientId}`])
    assertError(await app.call({ url, token: tokens.bank }), 403, 'invalid_scopes', /not a bank token$/);
});

test('a key is found under the path of its own kind only', async () => {
  const { user: token } = tokens;
  for (const url of [`${BANK}/${tenant.organizationKey.clientId}`, `${ORGANIZATION}/${bankKeys.first}`])
    for (const method of ['GET', 'PATCH', 'DELETE'] as const)
      assertError(
        await app.call({ method, url, token, ...(method === 'PATCH' && { payload: { name: 'x' } }) }),
        404,
        'not_found',
      );
});

test('another tenant’s keys do not exist, for any token and any operation', async () => {
  const before = await app.operate('GET', `/audit_records?organization_guid=${other.organizationGuid}`);
  for (const [path, { clientId }] of [
    [ORGANIZATION, other.organizationKey],
    [BANK, other.bankKey],
  ] as const)
    for (const holder of ['user', 'organization', 'bank'] as const) {
      if (holder === 'bank' && path === ORGANIZATION) continue;
      const call = { url: `${path}/${clientId}`, token: tokens[holder] };
      assertError(await app.call(call), 404, 'not_found');
      assertError(
        await app.call({ ...call, method: 'PATCH', payload: { ip_allowlist: [] } }),
        404,
        'not_found',
      );
      if (holder === 'user') assertError(await app.call({ ...call, method: 'DELETE' }), 404, 'not_found');
      assert.ok(!(await idsOf(path, holder)).includes(clientId));
    }
  const after = await app.operate('GET', `/audit_records?organization_guid=${other.organizationGuid}`);
  assert.deepEqual(after.body, before.body, 'it was not changed');
});

test('bank keys are filtered by one or several bank_guids, which are ignored for a bank token', async () => {
  const [first, second, production] = [tenant.bankGuid, secondBank.guid, productionBank.guid];
  assert.deepEqual(await idsOf(`${BANK}?bank_guid=${second}`, 'organization'), [bankKeys.second]);
  assert.deepEqual(await idsOf(`${BANK}?bank_guid=${production}`, 'organization'), []);
  assert.deepEqual(await idsOf(`${BANK}?bank_guid=${other.bankGuid}`, 'user'), []);
  assert.deepEqual(await idsOf(`${BANK}?bank_guid=${second}`, 'bank'), [bankKeys.first]);
  assert.deepEqual(await idsOf(`${BANK}?bank_guid=${first},${production}`, 'user'), [
    bankKeys.production,
    bankKeys.first,
  ]);
});

test('lists of keys are paged', async () => {
  const page = await app.call({ url: `${BANK}?per_page=2`, token: tokens.user });
  const { objects: _, next, ...envelope } = page.body;
  assert.deepEqual(envelope, { total: 3, page: 0, per_page: 2 });
  assert.equal(next, bankKeys.second);
  assert.deepEqual(await idsOf(`${BANK}?per_page=2&page=1`, 'user'), [bankKeys.first]);
  assert.deepEqual(await idsOf(`${BANK}?per_page=2&after=${next}`, 'user'), [bankKeys.first]);
});
