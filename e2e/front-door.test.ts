import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PAGES } from '../server/dashboard/pages.ts';
import { browse, joinTeam, PASSWORD, tokenInLink } from '../testing/dashboard.ts';
import { createTenant } from '../testing/tenant.ts';
import { assertAccessible } from './support/accessibility.ts';
import { codesOf, TOTP_STEP_MS } from './support/authenticator.ts';
import { launchBrowser } from './support/browser.ts';
import { createPages } from './support/pages.ts';
import { enterAs, fillLogin } from './support/people.ts';
import { createDashboardSite } from './support/site.ts';

const SUPPORT = 'help@portico.test';
const site = await createDashboardSite({ PORTICO_SUPPORT_EMAIL: SUPPORT });
const pages = createPages(await launchBrowser(), site.url);
const { app } = site;
const tenant = await createTenant(app);

test('whoever is not logged in is led to the login, and back to where they were going', async () => {
  const person = await joinTeam(app, tenant.organizationGuid);
  const page = await pages.open();
  await page.goto('/keys?kind=organization');
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
  assert.equal(new URL(page.url()).searchParams.get('next'), '/keys?kind=organization');
  await fillLogin(page, person);
  await page.getByRole('heading', { name: 'API keys' }).waitFor();
  assert.match(page.url(), /\/keys\?kind=organization/);
});

test('an address that leads elsewhere after the login is not followed', async () => {
  const person = await joinTeam(app, tenant.organizationGuid);
  const page = await pages.open();
  for (const next of ['//evil.example', 'https://evil.example/', '/\\evil.example', 'javascript:alert(1)']) {
    await page.goto(`/login?next=${encodeURIComponent(next)}`);
    await fillLogin(page, person);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    assert.equal(new URL(page.url()).origin, site.url);
  }
});

test('a second factor is asked for once the password is right, and a refusal tells nothing', async () => {
  const person = await joinTeam(app, tenant.organizationGuid);
  const { body } = await browse(app, 'POST', '/account/totp', { as: person, payload: {} });
  const code = codesOf(app, body.secret);
  const payload = { code: code() };
  const confirmed = await browse(app, 'POST', '/account/totp/confirm', { as: person, payload });
  assert.equal(confirmed.status, 200, JSON.stringify(confirmed.body));
  // A code works once.
  app.clock.advance(2 * TOTP_STEP_MS);

  const page = await pages.open();
  await page.goto('/login');
  await fillLogin(page, { ...person, password: 'not the password' });
  await page.getByText('That did not match').waitFor();
  assert.equal(await page.getByLabel('Code').count(), 0);
  await fillLogin(page, person);
  const wrong = code().replace(/./g, (digit) => String((Number(digit) + 1) % 10));
  await page.getByLabel('Code').fill(wrong);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByText('That code is not right').waitFor();
  await page.getByLabel('Code').fill(code());
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
});

test('the token of a link leaves the address at once, and is in no request line and no storage', async () => {
  const path = `/organizations/${tenant.organizationGuid}/members`;
  const invited = await app.operate('POST', path, { email: 'grace@acme.test', role: 'developer' });
  const link = String(invited.body.invitation_link);
  const token = tokenInLink(link);
  const page = await pages.open();
  const lines: string[] = [];
  page.on('request', (request) => lines.push(request.url()));
  await page.goto(link);
  await page.getByRole('heading', { name: 'Join Acme' }).waitFor();
  assert.equal(await page.evaluate(() => location.href), `${site.url}/set-password`);
  const stored = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
  assert.ok(!stored.includes(token));

  await page.getByLabel('Your name').fill('Grace');
  const setPassword = async (password: string) => {
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByLabel('Password again').fill(password);
    await page.getByRole('button', { name: 'Set the password and join' }).click();
  };
  await setPassword('too short');
  await page.getByText('At least 12 characters', { exact: true }).waitFor();
  await setPassword(PASSWORD);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  assert.ok(!lines.join().includes(token));
});

test('who has forgotten the password is told how the link comes', async () => {
  const page = await pages.open();
  const ask = async () => {
    await page.goto('/forgot-password');
    await page.getByLabel('Email').fill('ada@acme.test');
    await page.getByRole('button', { name: 'Ask for the link' }).click();
  };
  await ask();
  await page.getByRole('heading', { name: 'The operator is told' }).waitFor();
  await page.getByRole('link', { name: SUPPORT }).waitFor();
  // As services with a mail server, and demos, answer.
  for (const [by, heading, text] of [
    ['mail', 'Look into your mail', 'is on its way'],
    ['log', 'Look into the log', 'the terminal that this demo runs in'],
  ] as const) {
    const json = { link_by: by, support_email: SUPPORT };
    await page.route('**/dashboard/password_resets', (route) => route.fulfill({ status: 202, json }));
    await ask();
    await page.getByRole('heading', { name: heading }).waitFor();
    await page.getByText(text).waitFor();
    await page.unroute('**/dashboard/password_resets');
  }
});

test('no page in front of the door has a serious violation, and each fits a phone', async () => {
  const page = await pages.open();
  const person = await joinTeam(app, tenant.organizationGuid);
  const other = await createTenant(app);
  const invite = async (email: string) => {
    const path = `/organizations/${other.organizationGuid}/members`;
    return String((await app.operate('POST', path, { email, role: 'viewer' })).body.invitation_link);
  };
  const reset = await app.operate('POST', `/members/${person.memberGuid}/password_reset`, {});
  for (const [path, heading] of [
    ['/login', 'Log in'],
    ['/forgot-password', 'Reset the password'],
    ['/set-password#token=used', 'This link does not work'],
    [String(reset.body.link), 'Set a new password'],
    [await invite('new@acme.test'), 'Join Acme'],
    [await invite(person.email), 'Join Acme'],
  ] as const) {
    // From elsewhere: a new # alone would leave the page as it is.
    await page.goto('about:blank');
    await page.goto(path);
    await page.getByRole('heading', { name: heading }).waitFor();
    await assertAccessible(page, heading);
  }
  await page.getByLabel('Password', { exact: true }).fill('a brand new password');
  await page.getByLabel('Password again').fill('a brand new password');
  await page.getByRole('button', { name: 'Set the password and join' }).click();
  await page.getByText('Log in with your account for this address to join.').waitFor();
  await assertAccessible(page, 'an invitation of somebody who has an account');
  await page.getByLabel('Password', { exact: true }).fill('not the password');
  await page.getByRole('button', { name: 'Log in and join' }).click();
  await page.getByText('That did not match').waitFor();
  await assertAccessible(page, 'a refused login');
});

test('every address that the server answers with the page is a page of the dashboard', async () => {
  const page = await pages.open();
  await enterAs(page, site, tenant, 'founder');
  for (const name of PAGES) {
    await page.goto(`/${name}`);
    await page.getByRole('heading', { level: 1 }).first().waitFor();
    assert.equal(await page.getByText('There is no such page').count(), 0, name);
  }
});
