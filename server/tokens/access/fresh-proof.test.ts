import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type ApiOperation,
  createCallers,
  issueToken,
  readApiOperations,
} from '../../../testing/api/api-callers.ts';
import { validCallOf } from '../../../testing/api/api-calls.ts';
import { assertError, createTestApp } from '../../../testing/app/app.ts';

/** Changes that give lasting access require a fresh proof; covers every route in the OpenAPI document. */
const app = await createTestApp();
const operations = await readApiOperations(app);
const owner = await createCallers(app);
const PROOF_MS = 5 * 60_000;
const ago = (ms: number) => new Date(app.clock.now().getTime() - ms);

/** Sends an event to an endpoint that is there already; grants no access. */
const WITHOUT_PROOF: readonly string[] = ['sendTestEvent'];
/** The URL gets every alert from then on. */
const WITH_PROOF: readonly string[] = ['updateAlertSlack', 'deleteAlertSlack'];
const LASTING_TAGS: readonly string[] = ['Team', 'Applications', 'Subscriptions'];
const LASTING_SCOPES = /^(members|organization_applications|bank_applications|subscriptions):/;

const givesAccess = ({ method, types, scopes, tags = [], operationId }: ApiOperation) =>
  method !== 'GET' &&
  types.includes('user') &&
  !WITHOUT_PROOF.includes(operationId) &&
  (WITH_PROOF.includes(operationId) ||
    scopes.some((scope) => LASTING_SCOPES.test(scope)) ||
    tags.some((tag) => LASTING_TAGS.includes(tag)));
const lasting = operations.filter(givesAccess);

test('routes that write members, keys and subscriptions declare x-fresh-proof', () => {
  const marked = operations.filter((operation) => operation['x-fresh-proof'] === true);
  const names = (some: readonly ApiOperation[]) => some.map(({ operationId }) => operationId).sort();
  assert.deepEqual(names(marked), names(lasting));
  const written = ['OrganizationApplication', 'BankApplication', 'Subscription'].flatMap((resource) =>
    ['create', 'update', 'delete'].map((verb) => `${verb}${resource}`),
  );
  for (const name of [...written, 'inviteMember', 'updateMember', 'removeMember', 'updateMemberPolicy'])
    assert.ok(names(lasting).includes(name), name);
});

for (const operation of lasting) {
  const { operationId, types } = operation;

  test(`${operationId}: a user token with an old or missing proof is refused, with a fresh one accepted`, async () => {
    const valid = await validCallOf(app, operation, owner);
    for (const provedAt of [ago(PROOF_MS), ago(7 * 24 * 3_600_000), 'never'] as const) {
      const token = await issueToken(app, owner, 'user', { provedAt });
      assertError(await app.call({ ...valid, token }), 403, 'proof_required');
    }
    const token = await issueToken(app, owner, 'user', { provedAt: ago(PROOF_MS - 1_000) });
    const { status, body } = await app.call({ ...valid, token });
    assert.ok(status < 300, JSON.stringify(body));
  });

  test(`${operationId}: the scope is checked before the proof, and that before the input`, async () => {
    const options = { provedAt: ago(PROOF_MS) };
    const valid = await validCallOf(app, operation, owner);
    const token = await issueToken(app, owner, 'user', { ...options, scopes: [] });
    assertError(await app.call({ ...valid, token }), 403, 'invalid_scopes');
    const unproved = await issueToken(app, owner, 'user', options);
    const wrong = { ...valid, url: `${valid.url}?no_such_parameter=1`, token: unproved };
    assertError(await app.call(wrong), 403, 'proof_required');
  });

  for (const type of types.filter((candidate) => candidate !== 'user'))
    test(`${operationId}: a ${type} token needs no proof`, async () => {
      const valid = await validCallOf(app, operation, owner);
      const { status, body } = await app.call({ ...valid, token: await issueToken(app, owner, type) });
      assert.ok(status < 300, JSON.stringify(body));
    });
}
