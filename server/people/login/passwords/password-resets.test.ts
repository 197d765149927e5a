import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectsOf } from '../../../../testing/api/answers.ts';
import { type Answer, createTestApp } from '../../../../testing/app/app.ts';
import { createTenant } from '../../../../testing/app/tenant.ts';
import { lockWaits } from '../../../../testing/database/locks.ts';
import { browse, dashboardToken, joinTeam, tokenInLink } from '../../../../testing/people/dashboard.ts';
import { lockRevocations } from '../../../tokens/revoking/revocation-store.ts';

const app = await createTestApp({
  environment: { PORTICO_SUPPORT_EMAIL: 'help@operator.example', PORTICO_DATABASE_CONNECTIONS: '20' },
});
const { organizationGuid } = await createTenant(app);

async function ask(email: string) {
  const answer = await browse(app, 'POST', '/password_resets', { payload: { email } });
  await app.login.passwordResets.idle();
  return answer;
}

const requestsOf = async (memberGuid: string) =>
  objectsOf(
    await app.operate('GET', `/audit_records?object_id=${memberGuid}&action=account.request_password`),
  );

test('without a mail server a reset request is logged for the operator, and no link is issued', async () => {
  const { memberGuid, email } = await joinTeam(app, organizationGuid);
  const before = app.logged.length;
  const { status, body } = await ask(email);
  assert.deepEqual([status, body], [202, { link_by: 'operator', support_email: 'help@operator.example' }]);

  const told = app.logged
    .slice(before)
    .filter((line) => line.includes('password reset requested without a mail server'));
  assert.equal(told.length, 1);
  assert.equal(JSON.parse(String(told[0])).member_guid, memberGuid);
  assert.deepEqual(
    (await requestsOf(memberGuid)).map(({ actor, object_type }) => [actor, object_type]),
    [[memberGuid, 'account']],
  );
  const links = await app.database.queries.selectFrom('login_links').select('purpose').execute();
  assert.ok(links.every(({ purpose }) => purpose !== 'password_reset'));
  assert.doesNotMatch(app.logged.join(), /set-password|@partner\.example/);

  const given = await app.operate('POST', `/members/${memberGuid}/password_reset`, {});
  const payload = { token: tokenInLink(given.body.link), password: 'a brand new password' };
  assert.equal((await browse(app, 'POST', '/password', { payload })).status, 200);
});

test('a request for an unknown address gets the same response and is not logged', async () => {
  const known = await ask((await joinTeam(app, organizationGuid)).email);
  const before = app.logged.length;
  const unknown = await ask('unknown@partner.example');
  assert.deepEqual([unknown.status, unknown.body], [known.status, known.body]);
  assert.doesNotMatch(app.logged.slice(before).join(), /password reset requested without a mail server/);
});

test('a reset by the operator and the use of the previous link do not deadlock', async () => {
  const person = await joinTeam(app, organizationGuid);
  const reset = () =>
    app.operate('POST', `/members/${person.memberGuid}/password_reset`, { remove_totp: true });
  const token = tokenInLink((await reset()).body.link);
  const answers: Promise<Answer>[] = [];
  await app.database.transaction(async (transaction) => {
    const login = transaction.selectFrom('logins').select('member_guid');
    await login.where('member_guid', '=', person.memberGuid).forUpdate().execute();
    const payload = { token, password: 'a brand new password' };
    for (const call of [() => browse(app, 'POST', '/password', { payload }), reset]) {
      answers.push(call());
      while ((await lockWaits(app.database.queries)) < answers.length);
    }
  });
  assert.deepEqual(
    (await Promise.all(answers)).map(({ status }) => status),
    [200, 200],
  );
});

test('an invitation of a person who sets a new password does not deadlock with that', async () => {
  const person = await joinTeam(app, organizationGuid);
  const other = (await createTenant(app)).organizationGuid;
  const token = await dashboardToken(app, await joinTeam(app, other), other);
  const { body } = await app.operate('POST', `/members/${person.memberGuid}/password_reset`, {});
  const setPassword = { token: tokenInLink(body.link), password: 'a brand new password' };
  const invitation = { email: person.email, role: 'viewer' };
  const answers: Promise<Answer>[] = [];
  await app.database.transaction(async (transaction) => {
    await lockRevocations(transaction);
    for (const call of [
      () => browse(app, 'POST', '/password', { payload: setPassword }),
      () => app.call({ method: 'POST', url: '/api/members', token, payload: invitation }),
    ]) {
      answers.push(call());
      while ((await lockWaits(app.database.queries)) < answers.length);
    }
  });
  assert.deepEqual(
    (await Promise.all(answers)).map(({ status }) => status),
    [200, 201],
  );
});
