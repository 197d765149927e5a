import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestApp } from '../../../../testing/app/app.ts';
import { createTenant } from '../../../../testing/app/tenant.ts';
import { browse, dashboardToken, joinTeam, tokenInLink } from '../../../../testing/people/dashboard.ts';
import { createMailServer, textOf } from '../../../../testing/people/mail-server.ts';

const mail = await createMailServer();
const app = await createTestApp({ environment: mail.settings });
const { organizationGuid } = await createTenant(app);
const founder = await joinTeam(app, organizationGuid);
await mail.until(1);
const LINK = /http:\/\/localhost:4000\/set-password#token=[\w-]{43}/;

async function nextMail(action: () => Promise<unknown>) {
  const before = mail.received.length;
  await action();
  await mail.until(before + 1);
  const [received] = mail.received.slice(before);
  assert.ok(received);
  return received;
}

const linkIn = (received: Parameters<typeof textOf>[0]) => LINK.exec(textOf(received))?.[0];
const ask = (email: string) => browse(app, 'POST', '/password_resets', { payload: { email } });

test('an invitation is mailed to the invited person only', async () => {
  const token = await dashboardToken(app, founder, organizationGuid);
  const payload = { email: 'New.Person@partner.example', role: 'developer' };
  const received = await nextMail(async () => {
    const answer = await app.call({ method: 'POST', url: '/api/members', token, payload });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    assert.equal('invitation_link' in answer.body, false, 'the Founder does not get the link');
  });
  assert.deepEqual([received.from, received.to], ['portico@operator.example', 'new.person@partner.example']);
  assert.match(received.data, /^Subject: Invitation to the team of Acme on Portico$/m);
  const link = linkIn(received);
  const used = { token: tokenInLink(link), password: 'a brand new password' };
  assert.equal((await browse(app, 'POST', '/password', { payload: used })).status, 200);
});

test('the operator gets the link too', async () => {
  const path = `/organizations/${organizationGuid}/members`;
  let shown: unknown;
  const received = await nextMail(async () => {
    const { body } = await app.operate('POST', path, { email: 'other@partner.example', role: 'viewer' });
    shown = body.invitation_link;
  });
  assert.equal(linkIn(received), shown);
});

test('a password reset is mailed; an unknown address gets no mail and the same response', async () => {
  const unknown = await ask('unknown@partner.example');
  assert.equal(unknown.body.link_by, 'mail');
  const received = await nextMail(async () => {
    const { status, body } = await ask(founder.email);
    assert.deepEqual([status, body], [202, unknown.body]);
  });
  await app.login.passwordResets.idle();
  assert.equal(received.to, founder.email, 'the unknown address got no mail');
  const payload = { token: tokenInLink(linkIn(received)), password: 'a brand new password' };
  assert.equal((await browse(app, 'POST', '/password', { payload })).status, 200);
});

test('a temporary failure is retried, and its text is not logged', async () => {
  mail.refuse(2);
  const person = await joinTeam(app, organizationGuid);
  const before = mail.received.length;
  const failures = () => app.logged.filter((line) => line.includes('sending mail failed')).length;
  const untilFailures = async (count: number) => {
    while (failures() < count) await new Promise((resolve) => setImmediate(resolve));
  };
  await untilFailures(1);
  app.clock.advance(5_000);
  await untilFailures(2);
  assert.equal(mail.received.length, before);
  app.clock.advance(60_000);
  await mail.until(before + 1);
  assert.equal(mail.received.at(-1)?.to, person.email);
  assert.doesNotMatch(app.logged.join(), /set-password|@partner\.example/);
});

test('a permanent failure is not retried', async () => {
  const before = app.logged.length;
  mail.refuse(1, '550 no such person');
  await joinTeam(app, organizationGuid);
  const told = () => app.logged.slice(before).find((line) => line.includes('sending mail failed'));
  while (told() === undefined) await new Promise((resolve) => setImmediate(resolve));
  assert.match(String(told()), /"given_up":true/);
});

test('a name cannot inject headers or lines', async () => {
  const name = 'Evil\r\nBcc: all@partner.example\r\n\r\nPay here';
  const { body } = await app.operate('POST', '/organizations', { name });
  const received = await nextMail(() =>
    app.operate('POST', `/organizations/${body.guid}/members`, {
      email: 'a@partner.example',
      role: 'viewer',
    }),
  );
  assert.equal(received.to, 'a@partner.example');
  assert.doesNotMatch(received.data, /^Bcc:|^Pay here/m);
});
