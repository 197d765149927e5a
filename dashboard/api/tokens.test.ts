import assert from 'node:assert/strict';
import { beforeEach, mock, test } from 'node:test';
import { createTokens } from './tokens.ts';

const TENANCY = { organizationGuid: 'a'.repeat(32), environment: 'sandbox' } as const;

let requests: { respond(token: string): void; fail(): void }[] = [];

beforeEach(() => {
  requests = [];
  mock.restoreAll();
  mock.method(globalThis, 'fetch', () => {
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    requests.push({
      respond: (token) => resolve(Response.json({ access_token: token, expires_in: 300 })),
      fail: () => reject(new TypeError('no network')),
    });
    return promise;
  });
});

test('concurrent calls share one token request, and the token is reused', async () => {
  const tokens = createTokens();
  const both = [tokens.tokenFor(TENANCY), tokens.tokenFor(TENANCY)];
  requests[0]?.respond('first');
  assert.deepEqual(await Promise.all(both), ['first', 'first']);
  assert.equal(await tokens.tokenFor(TENANCY), 'first');
  assert.equal(requests.length, 1);
});

test('a token requested before clear is not cached', async () => {
  const tokens = createTokens();
  const before = tokens.tokenFor(TENANCY);
  tokens.clear();
  const after = tokens.tokenFor(TENANCY);
  assert.equal(requests.length, 2, 'the new session requests its own token');
  requests[1]?.respond('new session');
  assert.equal(await after, 'new session');
  requests[0]?.respond('old session');
  await before;
  assert.equal(await tokens.tokenFor(TENANCY), 'new session');
  assert.equal(requests.length, 2);
});

test('a failed token request is not cached', async () => {
  const tokens = createTokens();
  const failing = tokens.tokenFor(TENANCY);
  requests[0]?.fail();
  await assert.rejects(failing, { code: 'unreachable' });
  const again = tokens.tokenFor(TENANCY);
  requests[1]?.respond('second');
  assert.equal(await again, 'second');
});
