import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestApp, type TestApp } from '../../../testing/app/app.ts';
import { createTenant } from '../../../testing/app/tenant.ts';
import { dashboardToken, joinTeam, type Person } from '../../../testing/people/dashboard.ts';
import { createMailServer, type Received } from '../../../testing/people/mail-server.ts';
import { until } from '../../../testing/webhooks/webhooks.ts';

const mail = await createMailServer();
const app = await createTestApp({ environment: mail.settings });
const HOUR = 3_600_000;
const { notifier } = app.alertsModule;

async function createTeam() {
  const { organizationGuid } = await createTenant(app);
  const founder = await joinTeam(app, organizationGuid);
  const developer = await joinTeam(app, organizationGuid, { role: 'developer' });
  const viewer = await joinTeam(app, organizationGuid, { role: 'viewer' });
  // Sent in the background: a late one would count as one of the messages that the mail server refuses or waits for.
  await until(
    () =>
      [founder, developer, viewer].every(({ email }) =>
        mail.received.some((each) => isInvitation(each) && each.to === email),
      ),
    'the invitations',
  );
  await notifier.drain();
  // Beyond the hour of the emails about the team itself.
  app.clock.advance(HOUR);
  await notifier.drain();
  return { organizationGuid, founder, developer, viewer };
}

function raise(organizationGuid: string, type: 'endpoint.failing' | 'key.removed', name = 'Ledger') {
  const endpoint = { name, host: 'ledger.example' };
  return app.database.transaction((transaction) =>
    app.alerts.raise(transaction, [
      type === 'endpoint.failing'
        ? {
            ...{ type, organizationGuid, environment: 'production', subscriptionGuid: 'f'.repeat(32) },
            details: { ...endpoint, failing_since: '2026-11-16T16:35:00.000Z', failing_minutes: 10 },
          }
        : {
            ...{ type, organizationGuid },
            details: { client_id: 'c', name, actor_type: 'operator', actor: 'operator' },
          },
    ]),
  );
}

const isInvitation = ({ data }: Received) => /^Subject: Invitation/m.test(data);

/** The emails of `action` and of tasks that are due after it. */
async function emailsOf(action: () => Promise<unknown>, on: TestApp = app): Promise<Received[]> {
  const before = new Set(mail.received);
  await action();
  await on.alertsModule.notifier.drain();
  return mail.received.filter((each) => !before.has(each) && !isInvitation(each));
}

/** Without the line breaks of quoted-printable (RFC 2045, section 6.7) and of long headers (RFC 5322, section 2.2.3). */
const contentOf = ({ data }: Received) =>
  data
    .replaceAll(/=\n/g, '')
    .replaceAll(/\n[ \t]+/g, ' ')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
/** Decodes encoded words (RFC 2047). */
const subjectOf = ({ data }: Received) =>
  (/^Subject: ((?:.|\n[ \t])*)/m.exec(data)?.[1] ?? '')
    .replaceAll(/\?=\n =\?UTF-8\?Q\?/g, '')
    .replaceAll(/=\?UTF-8\?Q\?|\?=$/g, '')
    .replaceAll('_', ' ')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
const recipients = (emails: readonly Received[]) => emails.map(({ to }) => to).sort();
const linkIn = (email: Received) => /^List-Unsubscribe: ?<(.*)>$/m.exec(contentOf(email))?.[1] ?? '';

test('an alert goes to the roles of its type, as plain text and HTML, with a link to unsubscribe', async () => {
  const { organizationGuid, founder, developer } = await createTeam();
  const security = await emailsOf(() => raise(organizationGuid, 'key.removed'));
  assert.deepEqual(recipients(security), [founder.email]);
  const endpoint = await emailsOf(() => raise(organizationGuid, 'endpoint.failing'));
  assert.deepEqual(recipients(endpoint), [founder.email, developer.email].sort());
  const [email] = endpoint;
  assert.ok(email);
  const content = contentOf(email);
  assert.match(content, /^From: portico@operator\.example$/m);
  assert.equal(subjectOf(email), '[Acme] Endpoint "Ledger" has failed for 10 minutes');
  assert.match(content, /^List-Unsubscribe-Post: List-Unsubscribe=One-Click$/m);
  assert.match(content, /Content-Type: text\/plain[\s\S]*Content-Type: text\/html/);
  assert.match(content, /ledger\.example has not answered with 2xx since 2026-11-16 16:35 UTC/);
  assert.ok(content.includes(`http://localhost:4000/alerts?org=${organizationGuid}`));
  assert.match(linkIn(email), /^http:\/\/localhost:4000\/unsubscribe\/[\w~.-]+$/);
});

test('at most one email an hour and type; alerts that were held back follow in the next one', async () => {
  const { organizationGuid, founder } = await createTeam();
  assert.equal((await emailsOf(() => raise(organizationGuid, 'key.removed', 'one'))).length, 1);
  assert.equal((await emailsOf(() => raise(organizationGuid, 'endpoint.failing'))).length, 2, 'another type');
  app.clock.advance(HOUR - 1);
  for (const name of ['two', 'three'])
    assert.deepEqual(await emailsOf(() => raise(organizationGuid, 'key.removed', name)), []);
  const held = await emailsOf(async () => app.clock.advance(1));
  assert.deepEqual(recipients(held), [founder.email]);
  const content = contentOf(held[0] as Received);
  assert.match(content, /^Subject: \[Acme\] 2 alerts: Key removed$/m);
  assert.match(content, /Key "three" was removed[\s\S]*Key "two" was removed/);
  assert.doesNotMatch(content, /Key "one"/);
  assert.deepEqual(await emailsOf(async () => app.clock.advance(2 * HOUR)), [], 'nothing is sent twice');
});

test('an outage of the mail server delays emails and loses none, also when the process ends', async () => {
  const { organizationGuid, founder } = await createTeam();
  mail.refuse(3, '451 later');
  assert.deepEqual(await emailsOf(() => raise(organizationGuid, 'key.removed')), []);
  for (const ms of [30_000, 60_000]) assert.deepEqual(await emailsOf(async () => app.clock.advance(ms)), []);
  const other = await createTestApp({
    ...{ testDatabase: app.testDatabase, clock: app.clock, environment: mail.settings },
  });
  const emails = await emailsOf(async () => app.clock.advance(120_000), other);
  assert.deepEqual(recipients(emails), [founder.email]);
  assert.doesNotMatch(app.logged.join(), /@partner\.example/);
});

test('an email that takes longer than its lease is not sent again and again', async () => {
  const { organizationGuid } = await createTeam();
  const other = await createTestApp({
    ...{ testDatabase: app.testDatabase, clock: app.clock, environment: mail.settings },
  });
  const emails = await emailsOf(async () => {
    await raise(organizationGuid, 'key.removed');
    const before = mail.received.length;
    const release = mail.hold();
    const sending = notifier.drain();
    await mail.until(before + 1);
    app.clock.advance(120_000);
    const again = other.alertsModule.notifier.drain();
    await mail.until(before + 2);
    app.clock.advance(120_000);
    release();
    await Promise.all([sending, again]);
  });
  assert.equal(emails.length, 2, 'by each node once');
});

test('a refused recipient is given up; the alert remains in the list', async () => {
  const { organizationGuid } = await createTeam();
  mail.refuse(1, '550 no such person');
  assert.deepEqual(await emailsOf(() => raise(organizationGuid, 'key.removed')), []);
  assert.deepEqual(await emailsOf(async () => app.clock.advance(HOUR)), []);
  const line = app.logged.findLast((each) => each.includes('sending an alert failed'));
  assert.match(String(line), /"given_up":true/);
});

test('two nodes send one email', async () => {
  const { organizationGuid } = await createTeam();
  const other = await createTestApp({
    ...{ testDatabase: app.testDatabase, clock: app.clock, environment: mail.settings },
  });
  await raise(organizationGuid, 'endpoint.failing');
  const emails = await emailsOf(() =>
    Promise.all([app, other].map(({ alertsModule }) => alertsModule.notifier.drain())),
  );
  assert.equal(emails.length, 2, 'one to the Founder and one to the Developer');
});

test('a member who has left or changed role gets no email that was waiting for them', async () => {
  const { organizationGuid, founder, developer } = await createTeam();
  await emailsOf(() => raise(organizationGuid, 'endpoint.failing'));
  await raise(organizationGuid, 'endpoint.failing', 'held back');
  await notifier.drain();
  const actor = { type: 'operator', id: 'operator' } as const;
  await app.members.changeRole(actor, { organizationGuid, memberGuid: developer.memberGuid }, 'viewer');
  assert.deepEqual(recipients(await emailsOf(async () => app.clock.advance(HOUR))), [founder.email]);
});

async function preferencesOf(person: Person, organizationGuid: string): Promise<string[]> {
  const token = await dashboardToken(app, person, organizationGuid);
  const { body } = await app.call({ url: '/api/alert_preferences', token });
  assert.equal(body.email_available, true);
  return body.email_types as string[];
}

test('the link asks on GET and unsubscribes on POST, from this type of this Organization only', async () => {
  const { organizationGuid, founder, developer } = await createTeam();
  const emails = await emailsOf(() => raise(organizationGuid, 'endpoint.failing'));
  const own = emails.find(({ to }) => to === founder.email);
  assert.ok(own);
  const url = new URL(linkIn(own)).pathname;
  const shown = await app.server.inject({ url });
  assert.equal(shown.statusCode, 200);
  assert.match(shown.body, /Endpoint failing<\/strong> from Acme/);
  assert.ok((await preferencesOf(founder, organizationGuid)).includes('endpoint.failing'), 'GET only asks');
  for (const type of ['application/x-www-form-urlencoded', 'multipart/form-data; boundary=b']) {
    const payload = 'List-Unsubscribe=One-Click';
    const done = await app.server.inject({ method: 'POST', url, headers: { 'content-type': type }, payload });
    assert.equal(done.statusCode, 200, done.body);
    assert.match(done.body, /You are unsubscribed/);
  }
  const types = await preferencesOf(founder, organizationGuid);
  assert.ok(!types.includes('endpoint.failing') && types.includes('key.removed'));
  app.clock.advance(HOUR);
  const next = await emailsOf(() => raise(organizationGuid, 'endpoint.failing'));
  assert.deepEqual(recipients(next), [developer.email]);
});

test('a link with a changed member, type or signature is not valid', async () => {
  const { organizationGuid, founder, developer } = await createTeam();
  const [email] = await emailsOf(() => raise(organizationGuid, 'key.removed'));
  const { pathname } = new URL(linkIn(email as Received));
  const changed = [
    pathname.replace(founder.memberGuid, developer.memberGuid),
    pathname.replace('key.removed', 'key.created'),
    pathname.slice(0, -2),
    `${pathname}~`,
    '/unsubscribe/nonsense',
  ];
  for (const url of changed) {
    const answer = await app.server.inject({ method: 'POST', url });
    assert.deepEqual([answer.statusCode, /not valid/.test(answer.body)], [404, true], url);
  }
  assert.ok((await preferencesOf(founder, organizationGuid)).includes('key.removed'));
});

test('a flood with one link ends at a limit, which other members do not share', async () => {
  const { organizationGuid, founder } = await createTeam();
  const emails = await emailsOf(() => raise(organizationGuid, 'endpoint.failing'));
  const links = emails.map((email) => ({ to: email.to, url: new URL(linkIn(email)).pathname }));
  const statusesOf = async (url: string, calls: number) => {
    const statuses: number[] = [];
    for (let call = 0; call < calls; call++)
      statuses.push((await app.server.inject({ method: 'POST', url })).statusCode);
    return statuses;
  };
  const own = links.find(({ to }) => to === founder.email);
  const other = links.find(({ to }) => to !== founder.email);
  assert.ok(own && other);
  assert.deepEqual(await statusesOf(own.url, 22), [...Array(20).fill(200), 429, 429]);
  assert.deepEqual(await statusesOf(other.url, 1), [200]);
});

test('names cannot inject headers, lines or markup', async () => {
  const { organizationGuid } = await createTeam();
  const name = 'Evil\r\nBcc: all@partner.example\r\n\r\n<img src=x>';
  const [email] = await emailsOf(() => raise(organizationGuid, 'key.removed', name));
  assert.ok(email);
  assert.doesNotMatch(email.data, /^Bcc:/m);
  const [, html = ''] = contentOf(email).split('Content-Type: text/html');
  assert.doesNotMatch(html, /<img/);
});

test('old alerts are not sent when a mail server is set up later', async () => {
  const without = await createTestApp({ testDatabase: app.testDatabase, clock: app.clock });
  const { organizationGuid } = await createTeam();
  await raise(organizationGuid, 'key.removed');
  await without.alertsModule.notifier.drain();
  assert.deepEqual(await emailsOf(async () => app.clock.advance(73 * HOUR)), []);
});
