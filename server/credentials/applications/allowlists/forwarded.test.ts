import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, createTestApp } from '../../../../testing/app/app.ts';
import { createTenant, tokenOf, userToken } from '../../../../testing/app/tenant.ts';

/** The allowlist behind proxies: PORTICO_TRUSTED_PROXIES and X-Forwarded-For (contract, section 2). */
const app = await createTestApp({
  environment: { PORTICO_TRUSTED_PROXIES: '10.0.0.0/8,2001:db8::/32' },
});
const INSIDE = '198.35.26.96';
const OUTSIDE = '198.35.26.97';
const PROXY = '10.0.0.1';
const tenant = await createTenant(app, { ipAllowlist: [INSIDE] });
const token = await tokenOf(app, tenant.organizationKey, 'customers:read');

const through = (forwardedFor: string | undefined, remoteAddress = PROXY) =>
  app.call({
    ...{ url: '/api/customers', token, remoteAddress },
    ...(forwardedFor !== undefined && { headers: { 'x-forwarded-for': forwardedFor } }),
  });

const assertPasses = async (forwardedFor: string, remoteAddress?: string) =>
  assert.equal((await through(forwardedFor, remoteAddress)).status, 200, `${forwardedFor} was denied`);
const assertDenied = async (forwardedFor: string | undefined, remoteAddress?: string) =>
  assertError(await through(forwardedFor, remoteAddress), 403, 'ip_not_allowed');

test('behind a trusted proxy the source is the right-most untrusted hop', async () => {
  await assertPasses(INSIDE);
  await assertPasses(`${OUTSIDE}, ${INSIDE}`);
  await assertPasses(`${OUTSIDE}, ${INSIDE}, 10.1.1.1,10.2.2.2 ,\t2001:db8::7`);
  await assertPasses(INSIDE, '2001:db8::1');
  await assertPasses(INSIDE, '::ffff:10.0.0.1');
  await assertDenied(OUTSIDE);
  await assertDenied(`${INSIDE}, ${OUTSIDE}`);
  await assertDenied(`${INSIDE}, ${OUTSIDE}, 10.1.1.1`);
  await assertDenied(`${INSIDE}, 2001:4860::1`);
});

test('the header of an untrusted peer is ignored', async () => {
  for (const peer of [OUTSIDE, '11.0.0.1', '2001:4860::1', '127.0.0.1']) await assertDenied(INSIDE, peer);
  await assertPasses(OUTSIDE, INSIDE);
});

test('a proxy that sends no header is itself the source', async () => {
  for (const header of [undefined, '', '  ', '\t']) await assertDenied(header);
  await assertDenied('10.1.1.1, 10.2.2.2');
});

test('a hop may carry a port, an IPv6 one in brackets', async () => {
  for (const hop of [`${INSIDE}:443`, `::ffff:${INSIDE}`, `[::ffff:${INSIDE}]`, `[::ffff:${INSIDE}]:65535`])
    await assertPasses(hop);
  for (const hop of [`${INSIDE}:65536`, `${INSIDE}:`, `${INSIDE}:x`, `[${INSIDE}]`, `[::ffff:${INSIDE}`])
    await assertDenied(hop);
});

test('an invalid hop ends the evaluation of the header', async () => {
  const garbage = [
    'unknown',
    '_hidden',
    'localhost',
    '0x7f.1',
    '198.35.26',
    '198.35.026.96',
    "'",
    '%',
    'for=x',
  ];
  for (const hop of [...garbage, '9'.repeat(5_000), '\u00ff', 'x y', ';'])
    for (const header of [hop, `${INSIDE}, ${hop}`, `${INSIDE}, ${hop}, 10.1.1.1`])
      await assertDenied(header);
  for (const header of [`${INSIDE},`, `${INSIDE}, ,10.1.1.1`, ',', ',,,']) await assertDenied(header);
});

test('a header of ten thousand hops is read only from the right', async () => {
  await assertPasses(`${'1.1.1.1,'.repeat(10_000)}${INSIDE}`);
  await assertPasses(`${','.repeat(10_000)}${INSIDE}`);
  await assertDenied(`${INSIDE}${',10.1.1.1'.repeat(10_000)}`);
  await assertDenied(`${`${INSIDE},`.repeat(10_000)}${OUTSIDE}`);
});

test('the audit record has the evaluated address', async () => {
  const url = `/api/organization_applications/${tenant.organizationKey.clientId}`;
  const founder = await userToken(app, tenant.organizationGuid);
  app.clock.advance(1_000);
  await assertPasses(`${OUTSIDE}, ${INSIDE}:1234, 10.1.1.1`);
  const { body } = await app.call({ url, token: founder });
  assert.equal(body.last_used_ip, INSIDE);
  const headers = { 'x-forwarded-for': `1.1.1.1, [2001:4860::1]:99` };
  const payload = { name: 'Renamed' };
  await app.call({ method: 'PATCH', url, token: founder, payload, headers, remoteAddress: PROXY });
  const records = await app.operate('GET', '/audit_records?action=organization_application.update');
  const [record] = records.body.objects as { address: string }[];
  assert.equal(record?.address, '2001:4860::1');
});
