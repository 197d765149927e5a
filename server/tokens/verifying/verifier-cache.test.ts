import assert from 'node:assert/strict';
import { KeyObject } from 'node:crypto';
import { test } from 'node:test';
import { exportJWK, generateKeyPair } from 'jose';
import { createFakeClock } from '../../../testing/app/fake-clock.ts';
import { Failure } from '../../infrastructure/runtime/failure.ts';
import { createGuids } from '../../infrastructure/runtime/guid.ts';
import { createMetrics } from '../../infrastructure/runtime/metrics.ts';
import { createEnvironments } from '../issuing/environments.ts';
import { createIssuer } from '../issuing/issuer.ts';
import { ALGORITHM, type SigningKeys } from '../signing-keys/signing-keys.ts';
import { createVerifier } from './verifier.ts';

/** The verifier caches valid signatures, and nothing else. */
const baseUrl = 'http://localhost:4000';
const clock = createFakeClock();
const environments = createEnvironments({
  baseUrl,
  sandboxAuthUrl: baseUrl,
  productionAuthUrl: 'http://live.example',
});
const pair = await generateKeyPair(ALGORITHM, { extractable: true });
const publicJwk = await exportJWK(pair.publicKey);
/** The service caches a hundred times as many, whose signatures take seconds. */
const MAX_CACHED = 100;
const key = {
  kid: 'k',
  signsFrom: clock.now(),
  publicJwk,
  ...pair,
  privateKey: KeyObject.from(pair.privateKey),
};

function createParts({ followsRevocations = true } = {}) {
  const revoked = new Set<string>();
  const lookups: string[] = [];
  const signingKeys = {
    current: async () => key,
    find: async (kid: string) => {
      lookups.push(kid);
      return kid === key.kid ? key : undefined;
    },
  } as SigningKeys;
  const isRevoked = (subjects: readonly string[]) => {
    const found = subjects.some((subject) => revoked.has(subject));
    return followsRevocations ? found : Promise.resolve(found);
  };
  const guids = createGuids({ clock, randomBytes: (size) => crypto.getRandomValues(Buffer.alloc(size)) });
  const issuer = createIssuer({ signingKeys, environments, baseUrl, clock, guids, metrics: createMetrics() });
  const verifier = createVerifier({
    ...{ signingKeys, environments, baseUrl, clock, maxCachedTokens: MAX_CACHED },
    revocations: { isRevoked } as Parameters<typeof createVerifier>[0]['revocations'],
  });
  const issue = async (subject = 'client') => {
    const organizationGuid = 'o';
    const issued = await issuer.issue({
      ...{ tokenType: 'organization' as const, subject, organizationGuid, environment: 'sandbox' as const },
      scopes: [],
    });
    return issued.access_token;
  };
  return { verifier, revoked, lookups, issue };
}

test('the second verification is synchronous, from the cache', async () => {
  const { verifier, lookups, issue } = createParts();
  const token = await issue();
  const verified = await verifier.verify(token);
  assert.ok(!(verified instanceof Failure));
  assert.equal(verifier.verify(token), verified);
  assert.equal(verifier.checkEnded(verified), undefined);
  assert.equal(lookups.length, 1);
});

test('an empty scope grants nothing', async () => {
  const { verifier, issue } = createParts();
  const verified = await verifier.verify(await issue());
  assert.ok(!(verified instanceof Failure));
  assert.ok(!verified.caller.scopes.has('trades:read'));
});

for (const followsRevocations of [true, false]) {
  const how = followsRevocations ? 'memory' : 'the database';
  test(`revocation and removal end a cached token, known from ${how}`, async () => {
    const { verifier, revoked, issue } = createParts({ followsRevocations });
    const token = await issue();
    const verified = await verifier.verify(token);
    assert.ok(!(verified instanceof Failure));
    for (const subject of [verified.claims.jti, verified.claims.sub]) {
      revoked.add(subject);
      const refused = await verifier.verify(token);
      assert.ok(refused instanceof Failure && refused.message === 'The access token is not valid');
      revoked.delete(subject);
      assert.equal(await verifier.verify(token), verified);
    }
  });
}

test('a cached token expires at exp and leaves the cache', async () => {
  const { verifier, lookups, issue } = createParts();
  const token = await issue();
  const verified = await verifier.verify(token);
  assert.ok(!(verified instanceof Failure));
  clock.set(new Date(verified.claims.exp * 1_000 - 1));
  assert.equal(verifier.verify(token), verified);
  clock.advance(1);
  for (const looked of [1, 2]) {
    const refused = await verifier.verify(token);
    assert.ok(refused instanceof Failure && refused.message === 'Signature has expired');
    assert.equal(lookups.length, looked);
  }
});

test('refused tokens are not cached, and malformed ones are not verified', async () => {
  const { verifier, revoked, lookups, issue } = createParts();
  const token = await issue('removed');
  revoked.add('removed');
  for (let times = 0; times < 3; times += 1) assert.ok((await verifier.verify(token)) instanceof Failure);
  assert.equal(lookups.length, 3);
  for (const text of ['', 'x', 'a.b.c', token.repeat(20), `${token}=`])
    assert.ok((await verifier.verify(text)) instanceof Failure);
  assert.equal(lookups.length, 3);
});

test('the cache has a limit; the oldest token is evicted first', async () => {
  const { verifier, issue } = createParts();
  const tokens: string[] = [];
  for (let count = 0; count < MAX_CACHED + 10; count += 1) {
    const token = await issue();
    await verifier.verify(token);
    tokens.push(token);
  }
  const isRemembered = (token: string | undefined) => !(verifier.verify(token ?? '') instanceof Promise);
  assert.ok(!isRemembered(tokens[0]) && !isRemembered(tokens[9]));
  assert.ok(isRemembered(tokens[10]) && isRemembered(tokens.at(-1)));
});
