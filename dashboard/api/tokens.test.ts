import assert from 'node:assert/strict';
import { beforeEach, mock, test } from 'node:test';
import { createTokens } from './tokens.ts';

const TENANCY = { organizationGuid: 'a'.repeat(32), environment: 'sandbox' } as const;

/** What the service is asked, each answered when the test says so. */
let asked: { answer(token: string): void; refuse(): void }[] = [];

beforeEach(() => {
  asked = [];
  mock.restoreAll();
  mock.method(globalThis, 'fetch', () => {
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    asked.push({
      answer: (token) => resolve(Response.json({ access_token: token, expires_in: 300 })),
      refuse: () => reject(new TypeError('no network')),
    });
    return promise;
  });
});

test('calls of the same moment share one request, and its token is used again', async () => {
  const tokens = createTokens();
  const both = [tokens.tokenFor(TENANCY), tokens.tokenFor(TENANCY)];
  asked[0]?.answer('first');
  assert.deepEqual(await Promise.all(both), ['first', 'first']);
  assert.equal(await tokens.tokenFor(TENANCY), 'first');
  assert.equal(asked.length, 1);
});

test('a token that is on its way while all is forgotten is not kept', async () => {
  const tokens = createTokens();
  const before = tokens.tokenFor(TENANCY);
  tokens.forget();
  const after = tokens.tokenFor(TENANCY);
  assert.equal(asked.length, 2, 'whoever is logged in now asks for their own');
  asked[1]?.answer('of the new one');
  assert.equal(await after, 'of the new one');
  asked[0]?.answer('of the old one');
  await before;
  assert.equal(await tokens.tokenFor(TENANCY), 'of the new one');
  assert.equal(asked.length, 2);
});

test('a request that failed is not remembered', async () => {
  const tokens = createTokens();
  const failing = tokens.tokenFor(TENANCY);
  asked[0]?.refuse();
  await assert.rejects(failing, { code: 'unreachable' });
  const again = tokens.tokenFor(TENANCY);
  asked[1]?.answer('second');
  assert.equal(await again, 'second');
});
