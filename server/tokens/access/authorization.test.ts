import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type ApiOperation,
  createCallers,
  createSiblings,
  EVERY_SCOPE,
  issueToken,
  readApiOperations,
  TOKEN_TYPES,
  watchApiRoutes,
} from '../../../testing/api/api-callers.ts';
import { addressOfOther, hasPathObject, outsidersOf, validCallOf } from '../../../testing/api/api-calls.ts';
import { createSharedRules } from '../../../testing/api/operations.ts';
import { type Answer, assertError, createTestApp } from '../../../testing/app/app.ts';
import { pascalCase } from '../../infrastructure/http/openapi/names.ts';
import type { TokenType } from '../claims.ts';
import { holdsScope } from '../scopes.ts';

/** Access checks (contract, section 4) of every /api route in the OpenAPI document; new routes are covered automatically. */
const routes = watchApiRoutes();
const app = await createTestApp();
const operations = await readApiOperations(app);
const owner = await createCallers(app);
const siblings = await createSiblings(app, owner);
const stranger = await createCallers(app);
const INSIDE = '198.35.26.96';
const OUTSIDE = '198.35.26.97';
const valuesOf = createSharedRules();

const firstTypeOf = ({ types }: ApiOperation) => types[0] as TokenType;

/** Every scope except the missing one and those that include it. */
const allBut = (missing: string) => EVERY_SCOPE.filter((scope) => !holdsScope(new Set([scope]), missing));

test('the OpenAPI document has every route under /api, with its scopes and token types', () => {
  const documented = operations.map(({ method, path }) => `${method} ${path}`).sort();
  assert.deepEqual([...routes].filter((route) => !route.startsWith('HEAD ')).sort(), documented);
  assert.ok(documented.length >= 14, `${documented.length} routes`);
  for (const { operationId, types, scopes } of operations) {
    assert.ok(scopes.length > 0 && scopes.every((scope) => EVERY_SCOPE.includes(scope)), operationId);
    assert.ok(types.length > 0 && types.every((type) => TOKEN_TYPES.includes(type)), operationId);
  }
});

for (const operation of operations) {
  const { operationId, types, scopes } = operation;
  const call = (options: object) => app.call({ ...options } as Parameters<typeof app.call>[0]);
  let refused: ReturnType<typeof validCallOf> | undefined;
  /** For calls whose objects do not matter, most of which are refused because of their token. */
  const refusedCall = () => (refused ??= validCallOf(app, operation, owner));

  test(`${operationId}: each declared token type with only the declared scopes is accepted`, async () => {
    for (const type of types) {
      const valid = await validCallOf(app, operation, owner);
      const token = await issueToken(app, owner, type, { scopes: [...scopes, ...grantedBy(valid)] });
      const { status, body } = await call({ ...valid, token });
      assert.ok(status >= 200 && status < 300, `${type}: ${status} ${JSON.stringify(body)}`);
    }
  });

  test(`${operationId}: without a well-formed token 401 authentication_malformed`, async () => {
    const valid = await refusedCall();
    const token = await issueToken(app, owner, firstTypeOf(operation));
    const headers = [undefined, `Basic ${token}`, '', 'Bearer', 'Bearer ', token, `Bearer ${token} x`];
    for (const authorization of valuesOf('malformed', headers, { later: 2 }))
      assertError(
        await call({ ...valid, headers: authorization === undefined ? {} : { authorization } }),
        401,
        'authentication_malformed',
      );
    if (operation.method !== 'GET') return;
    const head = await app.server.inject({ ...valid, method: 'HEAD' });
    assert.equal(head.statusCode, 401, 'HEAD is behind the same guard');
  });

  test(`${operationId}: an expired token gets 401 Signature has expired`, async () => {
    const valid = await refusedCall();
    const type = firstTypeOf(operation);
    const [seen, unseen] = [await issueToken(app, owner, type), await issueToken(app, owner, type)];
    const lifetime = type === 'user' ? 300_000 : 1_800_000;
    app.clock.advance(lifetime - 1_000);
    assert.notEqual((await call({ ...valid, token: seen })).status, 401, 'valid until its last second');
    app.clock.advance(1_000);
    for (const token of [seen, unseen])
      assertError(await call({ ...valid, token }), 401, 'authentication_failed', 'Signature has expired');
  });

  test(`${operationId}: an address outside the token’s list gets 403 ip_not_allowed`, async () => {
    const valid = await validCallOf(app, operation, owner);
    const token = await issueToken(app, owner, firstTypeOf(operation), { ipAllowlist: [INSIDE] });
    for (const remoteAddress of [OUTSIDE, '2001:4860::1'])
      assertError(
        await call({ ...valid, token, remoteAddress }),
        403,
        'ip_not_allowed',
        'IP address not in allowlist',
      );
    assert.ok(
      (await call({ ...valid, token, remoteAddress: INSIDE })).status < 300,
      'an address inside the list passes',
    );
  });

  test(`${operationId}: a token without ${scopes.join(' or ')} is refused`, async () => {
    const valid = await refusedCall();
    for (const type of types)
      for (const missing of scopes) {
        const token = await issueToken(app, owner, type, { scopes: allBut(missing) });
        assertError(await call({ ...valid, token }), 403, 'invalid_scopes', new RegExp(`\\b${missing}$`));
      }
  });

  for (const type of TOKEN_TYPES.filter((candidate) => !types.includes(candidate)))
    test(`${operationId}: a ${type} token with every scope is refused`, async () => {
      const valid = await refusedCall();
      const token = await issueToken(app, owner, type);
      const message = new RegExp(`not an? ${type} token$`);
      assertError(await call({ ...valid, token }), 403, 'invalid_scopes', message);
    });

  test(`${operationId}: a token without any scope is refused`, async () => {
    const valid = await refusedCall();
    for (const type of types) {
      const token = await issueToken(app, owner, type, { scopes: [] });
      assertError(await call({ ...valid, token }), 403, 'invalid_scopes');
    }
  });

  test(`${operationId}: the token is checked before the input, the path and the body`, async () => {
    const valid = await refusedCall();
    const token = await issueToken(app, owner, firstTypeOf(operation), { scopes: allBut(scopes[0] ?? '') });
    const json = { 'content-type': 'application/json' };
    const wrong: object[] = [{ ...valid, url: `${valid.url}?no_such_parameter=1` }];
    if (hasPathObject(operation)) wrong.push({ ...valid, url: addressOfOther(operation, 'no-guid') });
    if (valid.payload)
      wrong.push(
        { ...valid, payload: { no_such_field: 1 } },
        { ...valid, payload: '{', headers: json },
        { ...valid, payload: 'x', headers: { 'content-type': 'text/plain' } },
      );
    for (const options of wrong) {
      assertError(await call({ ...options, token }), 403, 'invalid_scopes');
      assertError(await call(options), 401, 'authentication_malformed');
    }
  });

  if (!hasPathObject(operation)) continue;

  test(`${operationId}: objects of another tenant, bank, customer or environment are 404`, async () => {
    const valid = await validCallOf(app, operation, owner);
    for (const [name, token] of await outsidersOf(app, operation, { owner, siblings, stranger })) {
      const answer: Answer = await call({ ...valid, token });
      assert.equal(answer.status, 404, `${name}: ${answer.status} ${JSON.stringify(answer.body)}`);
      assertError(answer, 404, 'not_found');
      const absent = addressOfOther(operation, '0'.repeat(32));
      assert.deepEqual(answer.body, (await call({ ...valid, url: absent, token })).body, 'the same message');
    }
    const token = await issueToken(app, owner, firstTypeOf(operation));
    assert.ok((await call({ ...valid, token })).status < 300, 'the object exists');
  });
}

/** Setting scopes requires holding them. */
function grantedBy({ payload }: { payload?: object }): string[] {
  return payload && 'scopes' in payload ? (payload.scopes as string[]) : [];
}

/** Token types and scopes that the contract prescribes. */
const CONTRACT_ACCESS: Record<string, readonly [types: string, scopes: string]> = {
  listOrganizationApplications: ['organization user', 'organization_applications:read'],
  getOrganizationApplication: ['organization user', 'organization_applications:read'],
  updateOrganizationApplication: ['organization user', 'organization_applications:write'],
  createOrganizationApplication: ['user', 'organization_applications:write'],
  deleteOrganizationApplication: ['user', 'organization_applications:write'],
  listBankApplications: ['organization bank user', 'bank_applications:read'],
  getBankApplication: ['organization bank user', 'bank_applications:read'],
  updateBankApplication: ['organization bank user', 'bank_applications:write'],
  createBankApplication: ['user', 'bank_applications:write'],
  deleteBankApplication: ['user', 'bank_applications:write'],
  createCustomer: ['organization bank user', 'customers:execute'],
  listCustomers: ['organization bank customer user', 'customers:read'],
  getCustomer: ['organization bank customer user', 'customers:read'],
  updateCustomer: ['organization bank customer user', 'customers:write'],
  updateAccount: ['organization bank customer user', 'accounts:write'],
  updateExternalBankAccount: ['organization bank customer user', 'external_bank_accounts:write'],
  deleteExternalBankAccount: ['organization bank customer user', 'external_bank_accounts:execute'],
  createDepositAddress: ['organization bank customer user', 'deposit_addresses:execute'],
  listDepositAddresses: ['organization bank customer user', 'deposit_addresses:read'],
  getDepositAddress: ['organization bank customer user', 'deposit_addresses:read'],
  ...Object.fromEntries(
    `accounts quotes trades transfers identity_verifications plans executions external_bank_accounts workflows`
      .split(' ')
      .flatMap((plural) => [
        [
          `create${pascalCase(plural.slice(0, -1))}`,
          ['organization bank customer user', `${plural}:execute`] as const,
        ],
        [`list${pascalCase(plural)}`, ['organization bank customer user', `${plural}:read`] as const],
        [
          `get${pascalCase(plural.slice(0, -1))}`,
          ['organization bank customer user', `${plural}:read`] as const,
        ],
      ]),
  ),
  listAssets: ['organization bank customer user', 'prices:read'],
  listSymbols: ['organization bank customer user', 'prices:read'],
  listPrices: ['organization bank customer user', 'prices:read'],
  listOrganizations: ['organization user', 'organizations:read'],
  getOrganization: ['organization user', 'organizations:read'],
  updateOrganization: ['organization user', 'organizations:write'],
  createBank: ['organization user', 'banks:execute'],
  listBanks: ['organization bank user', 'banks:read'],
  getBank: ['organization bank user', 'banks:read'],
  updateBank: ['organization bank user', 'banks:write'],
  createCustomerToken: ['organization bank', 'customers:read customers:write'],
  createFile: ['organization bank user', 'files:execute'],
  deleteFile: ['organization bank user', 'files:execute'],
  listFiles: ['organization bank user', 'files:read'],
  getFile: ['organization bank user', 'files:read'],
  listSubscriptions: ['user', 'subscriptions:read'],
  getSubscription: ['user', 'subscriptions:read'],
  createSubscription: ['user', 'subscriptions:write'],
  updateSubscription: ['user', 'subscriptions:write'],
  deleteSubscription: ['user', 'subscriptions:execute'],
  listMembers: ['user', 'members:read'],
  getMember: ['user', 'members:read'],
  getMemberPolicy: ['user', 'members:read'],
  updateMemberPolicy: ['user', 'members:write'],
  inviteMember: ['user', 'members:write'],
  updateMember: ['user', 'members:write'],
  removeMember: ['user', 'members:write'],
  listAuditEntries: ['user', 'audit_entries:read'],
  exportAuditEntries: ['user', 'audit_entries:read'],
  listAlerts: ['organization user', 'organizations:read'],
  getUnreadAlerts: ['user', 'organizations:read'],
  updateUnreadAlerts: ['user', 'organizations:read'],
  getAlertPreferences: ['user', 'organizations:read'],
  updateAlertPreferences: ['user', 'organizations:read'],
  getAlertSettings: ['user', 'organizations:read'],
  updateAlertSettings: ['user', 'organizations:write'],
  getAlertSlack: ['user', 'organizations:read'],
  updateAlertSlack: ['user', 'organizations:write'],
  deleteAlertSlack: ['user', 'organizations:write'],
  testAlertSlack: ['user', 'organizations:write'],
  listRequests: ['organization bank user', 'bank_applications:read'],
  lookUp: ['user', 'banks:read'],
  listEvents: ['organization user', 'subscription_events:read'],
  getEvent: ['organization user', 'subscription_events:read'],
  listDeliveries: ['organization user', 'subscription_events:read'],
  getDelivery: ['organization user', 'subscription_events:read'],
  watchDeliveries: ['organization user', 'subscription_events:read'],
  streamEvents: ['organization user', 'subscription_events:read'],
  getSignedDeliveryRequest: ['user', 'subscriptions:read subscription_events:execute'],
  getDeliveryStatistics: ['organization user', 'subscription_events:read'],
  listEndpointHealth: ['organization user', 'subscription_events:read'],
  getEndpointHealth: ['organization user', 'subscription_events:read'],
  getEndpointTimeline: ['organization user', 'subscription_events:read'],
  listSubscriptionTargets: ['organization user', 'subscription_events:read'],
  sendTestEvent: ['organization user', 'subscription_events:execute'],
  createDelivery: ['organization user', 'subscription_events:execute'],
  listRecoveries: ['organization user', 'subscription_events:read'],
  getRecovery: ['organization user', 'subscription_events:read'],
  createRecovery: ['organization user', 'subscription_events:execute'],
  cancelRecovery: ['organization user', 'subscription_events:execute'],
  previewRecovery: ['organization user', 'subscription_events:read'],
  listInboxes: ['organization user', 'subscription_events:read'],
  getInbox: ['organization user', 'subscription_events:read'],
  createInbox: ['organization user', 'subscription_events:execute'],
  updateInbox: ['organization user', 'subscription_events:execute'],
  deleteInbox: ['organization user', 'subscription_events:execute'],
  listInboxRequests: ['organization user', 'subscription_events:read'],
  getInboxRequest: ['organization user', 'subscription_events:read'],
};

test('the routes require the token types and scopes of the contract, and every operation is listed', () => {
  const required = operations.map(
    ({ operationId, types, scopes }) => [operationId, { types, scopes }] as const,
  );
  const listed = Object.entries(CONTRACT_ACCESS).map(
    ([operationId, [types, scopes]]) =>
      [operationId, { types: types.split(' '), scopes: scopes.split(' ') }] as const,
  );
  assert.deepEqual(Object.fromEntries(required), Object.fromEntries(listed));
});
