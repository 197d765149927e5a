import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestApp } from '../../../testing/app/app.ts';
import { createTenant } from '../../../testing/app/tenant.ts';
import { queriesOfOwner } from '../../../testing/database/database.ts';
import { createAuthenticator } from '../../../testing/people/authenticator.ts';
import {
  browse,
  browserOf,
  dashboardToken,
  joinTeam,
  logIn,
  PASSWORD,
  tokenInLink,
} from '../../../testing/people/dashboard.ts';

/** Uses every login feature at the most verbose log level, then searches the log for secrets. */
const app = await createTestApp();
const { organizationGuid } = await createTenant(app);

test('no password, cookie, link, code, token or email address is in the log', async () => {
  const secrets: string[] = [PASSWORD, 'a brand new password', 'not the password'];
  const path = `/organizations/${organizationGuid}/members`;
  const email = 'secretive@partner.example';
  const invited = await app.operate('POST', path, { email, role: 'founder' });
  secrets.push(tokenInLink(invited.body.invitation_link));
  const payload = { token: tokenInLink(invited.body.invitation_link), password: PASSWORD };
  const person = {
    ...browserOf(await browse(app, 'POST', '/password', { payload })),
    email,
    password: PASSWORD,
  };
  await logIn(app, { ...person, password: 'not the password' });
  const other = browserOf(await logIn(app, person));
  secrets.push(person.cookie.split('=')[1] as string, other.cookie.split('=')[1] as string);

  const totp = await browse(app, 'POST', '/account/totp', { as: person, payload: {} });
  secrets.push(String(totp.body.secret));
  const options = await browse(app, 'POST', '/account/passkeys/options', { as: person, payload: {} });
  const response = createAuthenticator().create(options.body as { challenge: string });
  await browse(app, 'POST', '/account/passkeys', { as: person, payload: { name: 'Key', response } });
  secrets.push(String(options.body.challenge), await dashboardToken(app, person, organizationGuid));
  const passwords = { current_password: PASSWORD, new_password: 'a brand new password' };
  await browse(app, 'POST', '/account/password', { as: person, payload: passwords });
  const reset = await app.operate('POST', `/members/${invited.body.guid}/password_reset`, {});
  secrets.push(tokenInLink(reset.body.link));
  await browse(app, 'POST', '/password_resets', { payload: { email } });
  await app.login.passwordResets.idle();

  // An internal error is logged without the request that caused it.
  const owner = queriesOfOwner(app.testDatabase);
  await owner.schema.alterTable('sessions').renameTo('sessions_away').execute();
  const failed = await logIn(app, { ...person, password: 'a brand new password' });
  await owner.schema.alterTable('sessions_away').renameTo('sessions').execute();
  assert.equal(failed.status, 500);

  assert.ok(app.logged.length > 10);
  const log = app.logged.join('\n');
  for (const secret of [...secrets, email]) assert.ok(!log.includes(secret), secret);
  const records = await app.database.queries.selectFrom('audit_records').selectAll().execute();
  for (const secret of secrets) assert.ok(!JSON.stringify(records).includes(secret), secret);
});

test('only the embedded demo logs password reset links', async () => {
  const demo = await createTestApp({ environment: { PORTICO_DEMO: 'true' } });
  const tenant = await createTenant(demo);
  const person = await joinTeam(demo, tenant.organizationGuid);
  await browse(demo, 'POST', '/password_resets', { payload: { email: person.email } });
  await demo.login.passwordResets.idle();
  assert.ok(!demo.logged.join().includes('set-password'), 'an external database is not the embedded demo');
});
