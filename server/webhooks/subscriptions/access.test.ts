import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCallers, issueToken } from '../../../testing/api/api-callers.ts';
import { assertError, createTestApp } from '../../../testing/app/app.ts';
import { everyScope, tokenOf, userToken } from '../../../testing/app/tenant.ts';
import { createSubscription } from '../../../testing/webhooks/subscriptions.ts';
import type { Role } from '../../tokens/roles.ts';

/** Who may manage subscriptions (specification, Subscriptions 1 and 2; contract, sections 4 and 7). */
const app = await createTestApp();
const owner = await createCallers(app);
const { guid } = await createSubscription(app, owner);
const BODY = { type: 'webhook', name: 'Hook', url: 'https://partner.example/', environment: 'sandbox' };
const CALLS = [
  { method: 'POST', url: '/api/subscriptions', payload: BODY, scope: 'subscriptions:write', done: 201 },
  { method: 'GET', url: '/api/subscriptions', scope: 'subscriptions:read', done: 200 },
  { method: 'GET', url: `/api/subscriptions/${guid}`, scope: 'subscriptions:read', done: 200 },
  {
    ...{ method: 'PATCH', url: `/api/subscriptions/${guid}`, payload: { name: 'x' } },
    ...{ scope: 'subscriptions:write', done: 200 },
  },
  { method: 'DELETE', url: `/api/subscriptions/${guid}`, scope: 'subscriptions:execute', done: 200 },
] as const;

test('every API-key token gets 403 invalid_scopes, on every path and with every method', async () => {
  const tokens = [
    await tokenOf(app, owner.organizationKey, `${everyScope('organization')} subscriptions:execute`),
    await tokenOf(app, owner.bankKey, `${everyScope('bank')} subscriptions:execute`),
    // Even a token with the scopes, which is never issued.
    await issueToken(app, owner, 'organization'),
    await issueToken(app, owner, 'bank'),
    await issueToken(app, owner, 'customer'),
  ];
  for (const { scope: _, done: __, ...call } of CALLS)
    for (const token of tokens)
      assertError(await app.call({ ...call, token }), 403, 'invalid_scopes', /needs a user token/);
});

test('each method requires its scope, and execute includes all', async () => {
  const actions = ['read', 'write', 'execute'].map((action) => `subscriptions:${action}`);
  for (const { scope: needed, done, ...call } of CALLS)
    for (const held of actions) {
      const token = await issueToken(app, owner, 'user', { scopes: [held] });
      const answer = await app.call({ ...call, token });
      if (held === needed || held === 'subscriptions:execute') assert.equal(answer.status, done);
      else assertError(answer, 403, 'invalid_scopes', new RegExp(`${needed}$`));
    }
});

test('founders and key admins manage subscriptions, developers and viewers do not', async () => {
  for (const { scope: _, done, ...call } of CALLS)
    for (const role of ['founder', 'key_admin', 'developer', 'viewer'] as Role[]) {
      const token = await userToken(app, owner.organizationGuid, role);
      const answer = await app.call({ ...call, token });
      if (role === 'founder' || role === 'key_admin') assert.ok([done, 422].includes(answer.status), role);
      else assertError(answer, 403, 'invalid_scopes');
    }
});

test('without the feature 422 not_implemented: after the scope, before the input', async () => {
  const without = await createCallers(app);
  const path = `/organizations/${without.organizationGuid}`;
  const created = await createSubscription(app, without);
  assert.equal((await app.operate('PATCH', path, { features: ['files'] })).status, 200);
  const json = { 'content-type': 'application/json' };
  for (const { scope: _, done: __, ...call } of CALLS) {
    const url = call.url.replace(guid, created.guid);
    const token = await issueToken(app, without, 'user');
    const wrong: object[] = [
      { ...call, url },
      { ...call, url: `${url}?nonsense=1` },
      { ...call, url: url.replace(created.guid, 'no-guid') },
    ];
    if ('payload' in call)
      wrong.push(
        { ...call, url, payload: { nonsense: 1 } },
        { ...call, url, payload: '{', headers: json },
        { ...call, url, payload: 'x', headers: { 'content-type': 'text/plain' } },
      );
    for (const options of wrong)
      assertError(await app.call({ ...options, token }), 422, 'not_implemented', /Webhooks are not enabled/);

    const scopeless = await issueToken(app, without, 'user', { scopes: [] });
    assertError(await app.call({ ...call, url, token: scopeless }), 403, 'invalid_scopes');
    const key = await issueToken(app, without, 'organization');
    assertError(await app.call({ ...call, url, token: key }), 403, 'invalid_scopes');
  }
  await app.operate('PATCH', path, { features: ['webhooks'] });
  const token = await issueToken(app, without, 'user');
  const found = await app.call({ url: `/api/subscriptions/${created.guid}`, token });
  assert.equal(found.status, 200, 'the subscription is visible again');
});

test('other routes do not require the feature', async () => {
  const without = await createCallers(app);
  await app.operate('PATCH', `/organizations/${without.organizationGuid}`, { features: [] });
  const token = await issueToken(app, without, 'user');
  assert.equal((await app.call({ url: '/api/customers', token })).status, 200);
});

test('the OpenAPI document names the required feature', async () => {
  const { body } = await app.call({ url: '/openapi.json' });
  const { paths } = body as { paths: Record<string, Record<string, Record<string, unknown>>> };
  assert.equal(paths['/api/subscriptions']?.post?.['x-feature'], 'webhooks');
  assert.equal(paths['/api/customers']?.get?.['x-feature'], undefined);
});
