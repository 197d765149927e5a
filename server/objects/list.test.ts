import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectsOf } from '../../testing/api/answers.ts';
import { createCallers, createSiblings, issueToken } from '../../testing/api/api-callers.ts';
import { assertError, createTestApp } from '../../testing/app/app.ts';
import { createTenant } from '../../testing/app/tenant.ts';
import { createCustomer } from '../../testing/objects/customers.ts';
import { reportObject, typeOf } from '../../testing/objects/objects.ts';
import type { TokenType } from '../tokens/claims.ts';
import { statesOf } from './machine.ts';
import { OBJECT_TYPES } from './types.ts';

/** Visibility and filters of each token (contract, sections 5 and 9); pages are tested with the customers. */
const app = await createTestApp();
const owner = await createCallers(app);
const siblings = await createSiblings(app, owner);
const stranger = await createCallers(app);
const second = { ...owner, customerGuid: await createCustomer(app, owner.bankGuid) };
const { organizationGuid } = owner;
const banks = `/organizations/${organizationGuid}/banks`;
const opened = await app.operate('POST', banks, { name: 'Live', environment: 'production' });
const liveBank = String(opened.body.guid);
const live = { ...owner, bankGuid: liveBank, customerGuid: await createCustomer(app, liveBank) };

const OWNERS = { first: owner, second, sibling: siblings, live, stranger };
type Name = keyof typeof OWNERS;

const SEEN: Record<TokenType, Name[]> = {
  organization: ['sibling', 'second', 'first'],
  bank: ['second', 'first'],
  customer: ['first'],
  user: ['live', 'sibling', 'second', 'first'],
};

for (const { name, plural } of OBJECT_TYPES.filter(({ customer }) => customer !== 'itself')) {
  test(`${name}: each token lists the objects it may access, newest first, and no filter shows more`, async () => {
    const guids = new Map<string, Name>();
    for (const [of, callers] of Object.entries(OWNERS))
      guids.set(await reportObject(app, name, callers), of as Name);
    const bankGuids = Object.values(OWNERS).map(({ bankGuid }) => bankGuid);
    const customerGuids = Object.values(OWNERS).map(({ customerGuid }) => customerGuid);
    for (const [type, seen] of Object.entries(SEEN) as [TokenType, Name[]][]) {
      const token = await issueToken(app, owner, type);
      for (const query of [
        '',
        `guid=${[...guids.keys()]}`,
        `bank_guid=${bankGuids}`,
        `customer_guid=${customerGuids}`,
        'environment=sandbox,production',
        `after=${'f'.repeat(32)}`,
      ]) {
        const answer = await app.call({ url: `/api/${plural}?${query}`, token });
        const listed = objectsOf(answer).map(({ guid }) => guids.get(String(guid)));
        assert.deepEqual(listed, seen, `${type} ${query}`);
        assert.equal(answer.body.total, seen.length);
      }
    }
    const production = await issueToken(app, owner, 'organization', { environment: 'production' });
    const [shown, ...more] = objectsOf(await app.call({ url: `/api/${plural}`, token: production }));
    assert.deepEqual([guids.get(String(shown?.guid)), more], ['live', []]);
  });
}

const filtered = { ...(await createTenant(app)), customerGuid: '' };
filtered.customerGuid = await createCustomer(app, filtered.bankGuid);
const token = await issueToken(app, filtered, 'bank');

async function count(plural: string, query: string): Promise<number> {
  return objectsOf(await app.call({ url: `/api/${plural}?${query}`, token })).length;
}

test('state accepts one value or a comma list of known states', async () => {
  const { machine, plural } = typeOf('transfer');
  assert.ok(machine);
  for (const state of statesOf(machine)) await reportObject(app, 'transfer', filtered, { state });
  assert.equal(await count(plural, 'state=holding'), 1);
  assert.equal(await count(plural, 'state=completed,failed,completed'), 2);
  assert.equal(await count(plural, `state=${statesOf(machine)}`), statesOf(machine).length);
  for (const [state, message] of [
    ['cancelled', /^state must be one of storing, .*; got cancelled$/],
    ['holding,unheard_of', /^state must be one of storing, .*; got unheard_of$/],
  ] as const)
    assertError(
      await app.call({ url: `/api/transfers?state=${state}`, token }),
      400,
      'invalid_parameter',
      message,
    );
});

test('type filters objects that have one, and is refused elsewhere', async () => {
  const asset = 'USD';
  for (const type of ['fiat', 'trading', 'trading'])
    await reportObject(app, 'account', filtered, { details: { type, asset } });
  assert.equal(await count('accounts', 'type=trading'), 2);
  assert.equal(await count('accounts', 'type=fiat,reserve'), 1);
  assertError(await app.call({ url: '/api/trades?type=x', token }), 400, 'invalid_parameter', /^type /);
});

test('customer_guid and times are filters', async () => {
  const another = await createCustomer(app, filtered.bankGuid);
  const start = app.clock.now();
  app.clock.advance(60_000);
  await reportObject(app, 'plan', filtered);
  await reportObject(app, 'plan', { ...filtered, customerGuid: another });
  await reportObject(app, 'plan', filtered, { customer_guid: undefined });
  assert.equal(await count('plans', ''), 3);
  assert.equal(await count('plans', `customer_guid=${another}`), 1);
  assert.equal(await count('plans', `customer_guid=${another},${filtered.customerGuid}`), 2);
  assert.equal(await count('plans', `created_at_lt=${app.clock.now().toISOString()}`), 0);
  assert.equal(await count('plans', `created_at_gte=${start.toISOString()}`), 3);
});
