import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectsOf } from '../../testing/api/answers.ts';
import { assertError, createTestApp } from '../../testing/app/app.ts';
import { createKey, createTenant, PRODUCTION_HOST, tokenOf, userToken } from '../../testing/app/tenant.ts';
import { createCustomer, customerToken } from '../../testing/objects/customers.ts';

/** Customers that each token sees: two tenants, two banks, two environments (contract, sections 2 and 9). */
const app = await createTestApp();
const tenant = await createTenant(app);
const other = await createTenant(app);
const second = await addBank('sandbox');
const live = await addBank('production');

async function addBank(environment: string) {
  const path = `/organizations/${tenant.organizationGuid}/banks`;
  const { body } = await app.operate('POST', path, { name: 'Bank', environment });
  const guid = String(body.guid);
  return { guid, key: await createKey(app, `/banks/${guid}/applications`, { name: 'Key' }) };
}

const customers = {
  first: await createCustomer(app, tenant.bankGuid),
  sibling: await createCustomer(app, tenant.bankGuid),
  second: await createCustomer(app, second.guid),
  live: await createCustomer(app, live.guid),
  other: await createCustomer(app, other.bankGuid),
};
type Name = keyof typeof customers;

const SCOPE = 'customers:read';
const production = { host: PRODUCTION_HOST };
const HOLDERS: Record<string, { token: string; sees: Name[] }> = {
  'an Organization token': {
    token: await tokenOf(app, tenant.organizationKey, SCOPE),
    sees: ['second', 'sibling', 'first'],
  },
  'an Organization token of the production issuer': {
    token: await tokenOf(app, tenant.organizationKey, SCOPE, production),
    sees: ['live'],
  },
  'a bank token': { token: await tokenOf(app, tenant.bankKey, SCOPE), sees: ['sibling', 'first'] },
  'another bank’s token': { token: await tokenOf(app, second.key, SCOPE), sees: ['second'] },
  'a production bank token': { token: await tokenOf(app, live.key, SCOPE, production), sees: ['live'] },
  'a customer token': {
    token: await customerToken(app, tenant, customers.first, [SCOPE]),
    sees: ['first'],
  },
  'a user token': {
    token: await userToken(app, tenant.organizationGuid, 'viewer'),
    sees: ['live', 'second', 'sibling', 'first'],
  },
  'another tenant’s Organization token': {
    token: await tokenOf(app, other.organizationKey, SCOPE),
    sees: ['other'],
  },
  'another tenant’s user token': { token: await userToken(app, other.organizationGuid), sees: ['other'] },
};

for (const [holder, { token, sees }] of Object.entries(HOLDERS)) {
  const list = async (query = '') =>
    objectsOf(await app.call({ url: `/api/customers${query}`, token })).map(({ guid }) => guid);

  test(`${holder} lists ${sees.join(', ')} and no other customer, newest first`, async () => {
    assert.deepEqual(
      await list(),
      sees.map((name) => customers[name]),
    );
  });

  test(`${holder} gets ${sees.join(', ')}; every other customer is a 404`, async () => {
    for (const [name, guid] of Object.entries(customers)) {
      const answer = await app.call({ url: `/api/customers/${guid}`, token });
      if (sees.includes(name as Name)) assert.deepEqual([answer.status, answer.body.guid], [200, guid]);
      else assertError(answer, 404, 'not_found', 'There is no such customer');
    }
  });

  test(`no filter shows ${holder} another customer`, async () => {
    const all = Object.values(customers).join(',');
    const seen = sees.map((name) => customers[name]);
    assert.deepEqual(await list(`?guid=${all}`), seen);
    const banks = [tenant.bankGuid, second.guid, live.guid, other.bankGuid].join(',');
    assert.deepEqual(await list(`?bank_guid=${banks}`), seen);
    assert.deepEqual(await list('?after=ffffffffffffffffffffffffffffffff'), seen);
  });
}

test('a 404 does not reveal whether the customer exists', async () => {
  const token = HOLDERS['a bank token']?.token ?? '';
  const absent = await app.call({ url: `/api/customers/${'0'.repeat(32)}`, token });
  const hidden = await app.call({ url: `/api/customers/${customers.other}`, token });
  assert.deepEqual([hidden.status, hidden.body], [absent.status, absent.body]);
});
