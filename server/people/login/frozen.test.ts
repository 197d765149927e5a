import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readOperations } from '../../../testing/api/operations.ts';
import { type Answer, assertError, createTestApp } from '../../../testing/app/app.ts';
import { operator, rowsOf } from '../../../testing/app/cells.ts';
import { createTenant } from '../../../testing/app/tenant.ts';
import { createAuthenticator } from '../../../testing/people/authenticator.ts';
import {
  browse,
  joinTeam,
  logIn,
  PASSWORD,
  type Person,
  tokenInLink,
} from '../../../testing/people/dashboard.ts';
import { codesOf } from '../../../testing/people/totp.ts';
import { isFailure } from '../../infrastructure/runtime/failure.ts';

/** Nothing of a frozen Organization and its people changes: an export may have read them already. */
const app = await createTestApp();
const MOVING = [503, 'organization_moving', /nothing was changed; try again in a few seconds/] as const;
const STEP_MS = 30_000;
const ANOTHER_PASSWORD = 'another horse battery staple';

/** Calls that change neither an Organization nor an account. A one-time password and a login count as uses, not changes. */
const ACCEPTED = [
  'POST /dashboard/login',
  'POST /dashboard/passkey_login',
  'POST /dashboard/passkey_login/options',
  'POST /dashboard/logout',
  'POST /dashboard/password_resets',
  'POST /dashboard/links/inspect',
  'POST /dashboard/account/passkeys/options',
  'POST /dashboard/account/proof/passkey',
  'POST /dashboard/account/proof/password',
  'DELETE /dashboard/account/sessions/{guid}',
];

async function freeze(organizationGuid: string): Promise<void> {
  assert.ok(!isFailure(await app.transfers.freeze(operator, organizationGuid)));
}

const post = (path: string, as: Person | undefined, payload: object = {}) =>
  browse(app, 'POST', path, { as, payload });

async function invite(organizationGuid: string, email: string) {
  const path = `/organizations/${organizationGuid}/members`;
  const { body } = await app.operate('POST', path, { email, role: 'viewer' });
  return { token: tokenInLink(body.invitation_link) };
}

async function beginTotp(as: Person): Promise<() => string> {
  return codesOf(app, (await post('/account/totp', as)).body.secret);
}

/** Returns the recovery codes. */
async function turnOnTotp(as: Person): Promise<string[]> {
  const code = await beginTotp(as);
  const { body } = await post('/account/totp/confirm', as, { code: code() });
  app.clock.advance(STEP_MS);
  return body.recovery_codes as string[];
}

async function newPasskey(as: Person) {
  const { body } = await post('/account/passkeys/options', as);
  return { name: 'Laptop', response: createAuthenticator().create(body as { challenge: string }) };
}

async function addPasskey(as: Person): Promise<string> {
  const { status, body } = await post('/account/passkeys', as, await newPasskey(as));
  assert.equal(status, 201, JSON.stringify(body));
  return `/account/passkeys/${body.guid}`;
}

test('no call of the dashboard changes a frozen Organization or the account of its member', async () => {
  const { organizationGuid } = await createTenant(app);
  const secured = await joinTeam(app, organizationGuid);
  const fresh = await joinTeam(app, organizationGuid);
  const guest = await joinTeam(app, (await createTenant(app)).organizationGuid);
  const [recoveryCode = ''] = await turnOnTotp(secured);
  const passkey = await addPasskey(secured);
  const code = await beginTotp(fresh);
  const registration = await newPasskey(fresh);
  const filter = { organization_guid: organizationGuid, list: 'events', name: 'Failed', filters: {} };
  const saved = await post('/account/saved_filters', secured, filter);
  const toNewPerson = await invite(organizationGuid, 'new@partner.example');
  const toGuest = await invite(organizationGuid, guest.email);
  const reset = await app.operate('POST', `/members/${fresh.memberGuid}/password_reset`, {});
  const withReset = { token: tokenInLink(reset.body.link), password: ANOTHER_PASSWORD };
  const passwords = { current_password: PASSWORD, new_password: ANOTHER_PASSWORD };
  const unsubscribe = app.alertsModule.unsubscribeLinks.urlOf({
    ...{ organizationGuid, memberGuid: fresh.memberGuid, type: 'key.removed' },
  });
  await freeze(organizationGuid);
  const before = await rowsOf(app, organizationGuid);

  const remove = (path: string, payload?: object) => browse(app, 'DELETE', path, { as: secured, payload });
  const refused: Record<string, () => Promise<Answer>> = {
    'POST /dashboard/token': () =>
      post('/token', fresh, { organization_guid: organizationGuid, environment: 'sandbox' }),
    'POST /dashboard/links/accept': () => post('/links/accept', guest, toGuest),
    'POST /dashboard/password': () => post('/password', undefined, { ...toNewPerson, password: PASSWORD }),
    'PATCH /dashboard/account': () =>
      browse(app, 'PATCH', '/account', { as: fresh, payload: { name: 'Ada' } }),
    'POST /dashboard/account/password': () => post('/account/password', fresh, passwords),
    'POST /dashboard/account/totp': () => post('/account/totp', fresh),
    'POST /dashboard/account/totp/confirm': () => post('/account/totp/confirm', fresh, { code: code() }),
    'DELETE /dashboard/account/totp': () => remove('/account/totp', { password: PASSWORD }),
    'POST /dashboard/account/passkeys': () => post('/account/passkeys', fresh, registration),
    'DELETE /dashboard/account/passkeys/{guid}': () => remove(passkey),
    'POST /dashboard/account/proof/totp': () => post('/account/proof/totp', secured, { code: recoveryCode }),
    'POST /dashboard/account/saved_filters': () => post('/account/saved_filters', secured, filter),
    'DELETE /dashboard/account/saved_filters/{guid}': () =>
      remove(`/account/saved_filters/${saved.body.guid}`),
  };
  const others: Record<string, () => Promise<Answer>> = {
    'a password reset': () => post('/password', undefined, withReset),
    'a login with a recovery code': () => logIn(app, secured, { code: recoveryCode }),
    'a password reset by the operator': () =>
      app.operate('POST', `/members/${secured.memberGuid}/password_reset`, { remove_totp: true }),
    'a link to unsubscribe': () => app.call({ method: 'POST', url: new URL(unsubscribe).pathname }),
  };
  for (const [name, call] of Object.entries({ ...refused, ...others })) {
    const answer = await call();
    assert.equal(answer.status, 503, `${name}: ${answer.status} ${JSON.stringify(answer.body)}`);
    assertError(answer, ...MOVING);
    assert.equal(answer.headers['retry-after'], '5', name);
  }
  assert.deepEqual(await rowsOf(app, organizationGuid), before);
  const writing = (await readOperations(app))
    .filter(({ method, path }) => path.startsWith('/dashboard/') && method !== 'GET')
    .map(({ method, path }) => `${method} ${path}`);
  assert.deepEqual(writing.sort(), [...Object.keys(refused), ...ACCEPTED].sort());

  assert.ok(!isFailure(await app.transfers.unfreeze(operator, organizationGuid)));
  const accepted = await post('/password', undefined, { ...toNewPerson, password: PASSWORD });
  assert.equal(accepted.status, 200, 'a refused link is not used up');
});

test('a person with another Organization changes the account here, and the frozen one hears nothing', async () => {
  const [moving, staying] = [await createTenant(app), await createTenant(app)];
  const person = await joinTeam(app, moving.organizationGuid);
  const invitation = await invite(staying.organizationGuid, person.email);
  const passkey = await addPasskey(person);
  await freeze(moving.organizationGuid);
  const change = (password: string, next: string) =>
    post('/account/password', person, { current_password: password, new_password: next });
  assertError(await change(PASSWORD, ANOTHER_PASSWORD), ...MOVING);
  assert.equal((await post('/links/accept', person, invitation)).status, 200);
  assert.equal((await change(PASSWORD, ANOTHER_PASSWORD)).status, 204);
  assert.equal((await browse(app, 'DELETE', passkey, { as: person })).status, 204);
  const alerts = await app.database.queries
    .selectFrom('alerts')
    .select('organization_guid')
    .where('type', '=', 'second_factor.removed')
    .where('organization_guid', 'in', [moving.organizationGuid, staying.organizationGuid])
    .execute();
  assert.deepEqual(alerts, [{ organization_guid: staying.organizationGuid }]);
});
