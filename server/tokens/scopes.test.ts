import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Failure } from '../infrastructure/runtime/failure.ts';
import {
  allScopes,
  checkApplicationScopes,
  grantCustomerScopes,
  grantKeyScopes,
  holdsScope,
  type KeyHolder,
  scopesFor,
} from './scopes.ts';

/** Table of the contract, section 3: resource, Organization, Bank, Customer. */
const TABLE = `
  accounts                  | r w x | r w x | r w x
  customers                 | r w x | r w x | r w
  deposit_addresses         | r w x | r w x | r w x
  external_bank_accounts    | r w x | r w x | r w x
  identity_verifications    | r w x | r w x | r w x
  transfers                 | r w x | r w x | r w x
  trades                    | r x   | r x   | r x
  quotes                    | r x   | r x   | r x
  workflows                 | r x   | r x   | r x
  plans                     | r x   | r x   | r x
  executions                | r x   | r x   | r x
  prices                    | r     | r     | r
  files                     | r x   | r x   |
  banks                     | r w x | r w   |
  bank_applications         | r w   | r w   |
  organizations             | r w   |       |
  organization_applications | r w   |       |
  subscription_events       | r x   |       |`;
const DROPPED = ['subscriptions:execute', 'subscriptions:read', 'subscriptions:write'];

function column(index: number): string[] {
  const actions: Record<string, string> = { r: 'read', w: 'write', x: 'execute' };
  const rows = TABLE.trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()));
  return rows
    .flatMap((cells) =>
      (cells[index] ?? '')
        .split(' ')
        .filter((letter) => letter !== '')
        .map((letter) => `${cells[0]}:${actions[letter]}`),
    )
    .sort();
}
const EXPECTED: Record<KeyHolder, string[]> = {
  organization: column(1),
  bank: column(2),
  customer: column(3),
};
const everything = new Set(EXPECTED.organization);

function refusal(result: string[] | Failure): string {
  assert.ok(result instanceof Failure, `granted ${result}`);
  assert.equal(result.code, 'invalid_scope');
  return result.message;
}

test('the scopes of each token type match the contract’s table', () => {
  for (const holder of ['organization', 'bank', 'customer'] as const)
    assert.deepEqual(scopesFor(holder), EXPECTED[holder]);
  assert.deepEqual(allScopes(), [...EXPECTED.organization, ...DROPPED].sort());
});

test('a missing or empty scope is refused first', () => {
  assert.match(refusal(grantKeyScopes([], 'bank', everything)), /At least one/);
  assert.match(refusal(grantCustomerScopes([], everything)), /At least one/);
});

test('an unknown name is refused before anything is dropped or compared', () => {
  const unknown = [
    'trades:write',
    'Trades:read',
    'trades',
    'trades:',
    ':read',
    'trades:read,',
    '*',
    'toString',
  ];
  for (const name of [...unknown, '__proto__', 'subscriptions:delete'])
    for (const asked of [[name], ['subscriptions:read', 'banks:execute', name]])
      assert.match(refusal(grantKeyScopes(asked, 'bank', new Set())), /Unknown scope/, name);
});

test('an unknown scope is quoted with bounded length and printable characters', () => {
  const message = refusal(grantKeyScopes([`é"\\\n${'x'.repeat(1_000)}`], 'bank', everything));
  assert.match(message, /^[\x20-\x21\x23-\x5b\x5d-\x7e]{1,100}$/);
});

test('subscriptions:* is dropped for keys of both kinds, even if no scope remains', () => {
  for (const holder of ['organization', 'bank'] as const) {
    assert.deepEqual(grantKeyScopes(['trades:read', ...DROPPED], holder, everything), ['trades:read']);
    assert.deepEqual(grantKeyScopes(DROPPED, holder, everything), []);
    // Even if the Application's own scopes include them.
    assert.deepEqual(grantKeyScopes(DROPPED, holder, new Set(DROPPED)), []);
  }
});

test('a scope that needs Organization credentials is refused with Bank credentials, and before the key’s own', () => {
  const needing = EXPECTED.organization.filter((scope) => !EXPECTED.bank.includes(scope));
  assert.ok(needing.includes('banks:execute') && needing.includes('subscription_events:read'));
  for (const scope of needing) {
    const message = refusal(grantKeyScopes(['trades:read', scope, ...DROPPED], 'bank', new Set()));
    assert.equal(message, `${scope} needs Organization credentials`);
    assert.deepEqual(grantKeyScopes([scope], 'organization', everything), [scope]);
  }
});

test('a scope beyond the Application’s own is refused last', () => {
  const own = new Set(['trades:read']);
  assert.deepEqual(grantKeyScopes(['trades:read'], 'bank', own), ['trades:read']);
  assert.match(
    refusal(grantKeyScopes(['trades:read', 'prices:read'], 'bank', own)),
    /not hold the scope prices:read/,
  );
});

test('a customer token holds scopes that both customers and the key can hold; subscriptions:* is refused', () => {
  for (const scope of EXPECTED.customer)
    assert.deepEqual(grantCustomerScopes([scope, scope], everything), [scope]);
  for (const scope of allScopes().filter((name) => !EXPECTED.customer.includes(name)))
    assert.match(refusal(grantCustomerScopes([scope], everything)), /cannot be held by a customer/);
  assert.match(refusal(grantCustomerScopes(['trades:read'], new Set(['prices:read']))), /does not hold/);
});

test('a key is never granted a scope that it did not request, cannot hold or lacks', () => {
  const names = fc.array(fc.constantFrom(...allScopes()), { maxLength: 99 });
  const holders = fc.constantFrom('organization', 'bank' as const);
  fc.assert(
    fc.property(names, names, holders, (asked, own, holder) => {
      const granted = grantKeyScopes(asked, holder, new Set(own));
      if (granted instanceof Failure) return;
      assert.equal(new Set(granted).size, granted.length);
      for (const scope of granted)
        assert.ok(asked.includes(scope) && own.includes(scope) && EXPECTED[holder].includes(scope));
      for (const scope of asked) assert.ok(granted.includes(scope) || DROPPED.includes(scope));
    }),
  );
});

test('an Application gets only scopes of its kind, without duplicates', () => {
  assert.deepEqual(checkApplicationScopes(['trades:read', 'banks:read', 'trades:read'], 'bank'), [
    'banks:read',
    'trades:read',
  ]);
  for (const scope of ['banks:execute', 'subscriptions:read', 'no:such']) {
    const refused = checkApplicationScopes(['trades:read', scope], 'bank');
    assert.ok(refused instanceof Failure && refused.message.includes('scopes[1]'));
  }
});

test('execute includes read and write for subscriptions and their events only', () => {
  for (const required of [...DROPPED, 'subscription_events:read'])
    assert.ok(holdsScope(new Set([`${required.split(':')[0]}:execute`]), required));
  assert.ok(!holdsScope(new Set(['trades:execute']), 'trades:read'));
  assert.ok(!holdsScope(new Set(['subscriptions:write']), 'subscriptions:read'));
  assert.ok(!holdsScope(new Set(['subscription_events:execute']), 'subscriptions:read'));
  assert.ok(!holdsScope(new Set(['']), 'trades:read'));
});
