import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { createTestEndpoint } from '../../../../testing/webhooks/test-endpoint.ts';
import {
  AUTHORITY,
  EXPIRED_CERTIFICATE,
  PARTNER_CERTIFICATE,
  SELF_SIGNED_CERTIFICATE,
} from '../testing/certificates.ts';
import { createPosting, named } from '../testing/posting.ts';

// Affects only this process, which runs one test file.
setDefaultCACertificates([...getCACertificates('default'), AUTHORITY]);

async function reasonFor(tls: { key: string; cert: string }, hostname: string): Promise<string> {
  const endpoint = await createTestEndpoint({ tls });
  const answer = await createPosting().post(named(endpoint.url, hostname));
  assert.ok(answer.kind === 'unreachable');
  assert.equal(endpoint.received.length, 0);
  return answer.reason;
}

test('the certificate is verified against the name, and the name is sent as SNI, not the address', async () => {
  const names: string[] = [];
  const SNICallback = (name: string, done: (error: null) => void) => {
    names.push(name);
    done(null);
  };
  const tls = { ...PARTNER_CERTIFICATE, SNICallback };
  const endpoint = await createTestEndpoint({ tls });
  const { post } = createPosting();
  assert.equal((await post(named(endpoint.url))).status, 204);
  assert.equal((await post(named(endpoint.url))).status, 204);
  assert.deepEqual(names, ['hooks.partner.test']);
  assert.equal(endpoint.received[0]?.connectionClosed, endpoint.received[1]?.connectionClosed);
});

test('a name written with its final dot is the same name', async () => {
  const endpoint = await createTestEndpoint({ tls: PARTNER_CERTIFICATE });
  assert.equal((await createPosting().post(named(endpoint.url, 'hooks.partner.test.'))).status, 204);
});

test('a certificate for another name is refused', async () => {
  const reason = 'the certificate does not match the host name';
  assert.equal(await reasonFor(PARTNER_CERTIFICATE, 'other.partner.test'), reason);
});

test('a certificate for a name is refused for a URL with an IP address', async () => {
  const reason = 'the certificate does not match the host name';
  assert.equal(await reasonFor(PARTNER_CERTIFICATE, '127.0.0.1'), reason);
});

test('a self-signed certificate is refused', async () => {
  assert.equal(
    await reasonFor(SELF_SIGNED_CERTIFICATE, 'hooks.partner.test'),
    'the certificate is self-signed',
  );
});

test('an expired certificate is refused', async () => {
  assert.equal(await reasonFor(EXPIRED_CERTIFICATE, 'hooks.partner.test'), 'the certificate has expired');
});

test('NODE_TLS_REJECT_UNAUTHORIZED=0 has no effect', async (t) => {
  // Node prints a warning about the variable.
  t.mock.method(process, 'emitWarning', () => {});
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  try {
    assert.equal(
      await reasonFor(SELF_SIGNED_CERTIFICATE, 'hooks.partner.test'),
      'the certificate is self-signed',
    );
  } finally {
    delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  }
});

test('an endpoint that does not speak TLS is unreachable', async () => {
  const endpoint = await createTestEndpoint();
  const answer = await createPosting().post(endpoint.url.replace('http:', 'https:'));
  assert.deepEqual(answer, { kind: 'unreachable', reason: 'the TLS handshake failed', durationMs: 0 });
});
