import assert from 'node:assert/strict';
import { subscribe } from 'node:diagnostics_channel';
import { request } from 'node:http';
import { json } from 'node:stream/consumers';
import { test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { type Answer, assertError, createTestApp } from '../../../testing/app/app.ts';
import { createKey, createTenant, tokenOf } from '../../../testing/app/tenant.ts';
import { type Browser, browse, dashboardToken, joinTeam } from '../../../testing/people/dashboard.ts';

/** Calls whose token or session ends after the headers are checked and before the client sends the body. */
let onAdmitted = (): void => {};
subscribe('fastify.initialization', (message) =>
  (message as { fastify: FastifyInstance }).fastify.addHook('preParsing', (_request, _reply, body, done) => {
    onAdmitted();
    done(null, body);
  }),
);

const app = await createTestApp();
const origin = await app.server.listen({ host: '127.0.0.1', port: 0 });
const tenant = await createTenant(app);
const { organizationGuid } = tenant;
const founder = await joinTeam(app, organizationGuid);

type Held = { method: string; path: string; headers: Record<string, string>; payload: object };

/** Sends the headers, and the body once `meanwhile` is done. */
async function sendHeld(
  { method, path, headers, payload }: Held,
  meanwhile: () => Promise<unknown>,
): Promise<Answer> {
  const admitted = Promise.withResolvers<void>();
  onAdmitted = admitted.resolve;
  const body = JSON.stringify(payload);
  const sent = { ...headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  const call = request(`${origin}${path}`, { method, headers: sent });
  const answered = new Promise<Answer>((resolve, reject) => {
    call.on('error', reject).on('response', (response) => {
      const { statusCode: status = 0, headers } = response;
      json(response).then((content) => resolve({ status, headers, body: content as Answer['body'] }), reject);
    });
  });
  call.flushHeaders();
  await Promise.race([admitted.promise, answered]);
  onAdmitted = () => {};
  await meanwhile();
  call.end(body);
  return answered;
}

const newKey = (token: string): Held => ({
  ...{ method: 'POST', path: '/api/organization_applications' },
  headers: { authorization: `Bearer ${token}` },
  payload: { name: 'Kept', ip_allowlist: ['198.35.26.96'] },
});
const rename = ({ cookie }: Browser): Held => ({
  ...{ method: 'PATCH', path: '/dashboard/account', headers: { cookie } },
  payload: { name: 'Changed' },
});

async function countKeys(): Promise<number> {
  const rows = await app.database.queries.selectFrom('applications').select('client_id').execute();
  return rows.length;
}

test('a call whose body arrives in time is answered', async () => {
  const token = await dashboardToken(app, founder, organizationGuid);
  const answer = await sendHeld(newKey(token), async () => {});
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
});

test('a member who was removed before the body arrived creates no key', async () => {
  const member = await joinTeam(app, organizationGuid);
  const held = newKey(await dashboardToken(app, member, organizationGuid));
  const token = await dashboardToken(app, founder, organizationGuid);
  const before = await countKeys();
  const answer = await sendHeld(held, async () => {
    const url = `/api/members/${member.memberGuid}`;
    assert.equal((await app.call({ method: 'DELETE', url, token })).status, 204);
  });
  assertError(answer, 401, 'authentication_failed', 'The access token is not valid');
  assert.equal(await countKeys(), before);
});

test('a key that was removed before the body arrived changes nothing', async () => {
  const path = `/organizations/${organizationGuid}/applications`;
  const key = await createKey(app, path, { name: 'Key' });
  const token = await dashboardToken(app, founder, organizationGuid);
  const held: Held = {
    ...{ method: 'POST', path: '/api/customers' },
    headers: { authorization: `Bearer ${await tokenOf(app, key, 'customers:execute')}` },
    payload: { type: 'individual', bank_guid: tenant.bankGuid },
  };
  const answer = await sendHeld(held, async () => {
    const url = `/api/organization_applications/${key.clientId}`;
    assert.equal((await app.call({ method: 'DELETE', url, token })).status, 204);
  });
  assertError(answer, 401, 'authentication_failed');
});

test('a session that ended before the body arrived changes nothing in /api and /dashboard', async () => {
  for (const heldOf of [
    async (as: Browser) => newKey(await dashboardToken(app, as, organizationGuid)),
    async (as: Browser) => rename(as),
  ]) {
    const member = await joinTeam(app, organizationGuid);
    const answer = await sendHeld(await heldOf(member), async () => {
      const { status } = await browse(app, 'POST', '/logout', { as: member, payload: {} });
      assert.equal(status, 204);
    });
    assertError(answer, 401, 'authentication_failed');
  }
});
