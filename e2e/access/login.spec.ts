import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PAGES } from '../../server/dashboard/pages.ts';
import { createTenant } from '../../testing/app/tenant.ts';
import { browse, joinTeam, PASSWORD, tokenInLink } from '../../testing/people/dashboard.ts';
import { assertAccessible } from '../support/accessibility.ts';
import { codesOf, TOTP_STEP_MS } from '../support/authenticator.ts';
import { navigate, navigationOf } from '../support/pages.ts';
import { enterAs, submitLogin } from '../support/people.ts';
import { SUPPORT_EMAIL } from '../support/site.ts';
import { app, pages, site } from '../support/suite.ts';

const tenant = await createTenant(app);

test('a page that requires a login redirects to it and back', async () => {
  const person = await joinTeam(app, tenant.organizationGuid);
  const page = await pages.open();
  await page.goto('/keys?kind=organization');
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
  assert.equal(new URL(page.url()).searchParams.get('next'), '/keys?kind=organization');
  await submitLogin(page, person);
  await page.getByRole('heading', { name: 'API keys' }).waitFor();
  assert.match(page.url(), /\/keys\?kind=organization/);
});

test('the login does not redirect to other origins', async () => {
  const person = await joinTeam(app, tenant.organizationGuid);
  const page = await pages.open();
  await page.goto('/login');
  for (const next of ['//evil.example', 'https://evil.example/', '/\\evil.example', 'javascript:alert(1)']) {
    await navigate(page, `/login?next=${encodeURIComponent(next)}`);
    await submitLogin(page, person);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    assert.equal(new URL(page.url()).origin, site.url);
  }
});

test('the login asks for a code only after the correct password', async () => {
  const person = await joinTeam(app, tenant.organizationGuid);
  const { body } = await browse(app, 'POST', '/account/totp', { as: person, payload: {} });
  const code = codesOf(app, body.secret);
  const payload = { code: code() };
  const confirmed = await browse(app, 'POST', '/account/totp/confirm', { as: person, payload });
  assert.equal(confirmed.status, 200, JSON.stringify(confirmed.body));
  // Each code works once.
  app.clock.advance(2 * TOTP_STEP_MS);

  const page = await pages.open();
  await page.goto('/login');
  await submitLogin(page, { ...person, password: 'not the password' });
  await page.getByText('Email or password is incorrect').waitFor();
  assert.equal(await page.getByLabel('Code').count(), 0);
  await submitLogin(page, person);
  const wrong = code().replace(/./g, (digit) => String((Number(digit) + 1) % 10));
  await page.getByLabel('Code').fill(wrong);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByText('The code is incorrect').waitFor();
  await page.getByLabel('Code').fill(code());
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
});

test('the token of an invitation link appears in no URL, request or storage', async () => {
  const path = `/organizations/${tenant.organizationGuid}/members`;
  const invited = await app.operate('POST', path, { email: 'grace-login@acme.test', role: 'developer' });
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
    await page.getByLabel('Confirm password').fill(password);
    await page.getByRole('button', { name: 'Set password and join' }).click();
  };
  await setPassword('too short');
  await page.getByText('At least 12 characters', { exact: true }).waitFor();
  await setPassword(PASSWORD);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  assert.ok(!lines.join().includes(token));
});

test('a password reset explains how the link is sent', async () => {
  const page = await pages.open();
  const requestLink = async () => {
    await page.goto('/forgot-password');
    await page.getByLabel('Email').fill('ada@acme.test');
    await page.getByRole('button', { name: 'Request link' }).click();
  };
  await requestLink();
  await page.getByRole('heading', { name: 'Request sent to the operator' }).waitFor();
  await page.getByRole('link', { name: SUPPORT_EMAIL }).waitFor();
  // Responses of a service with a mail server, and of a demo.
  for (const [by, heading, text] of [
    ['mail', 'Check your email', 'we sent a link'],
    ['log', 'Check the server log', 'the terminal of this demo'],
  ] as const) {
    const json = { link_by: by, support_email: SUPPORT_EMAIL };
    await page.route('**/dashboard/password_resets', (route) => route.fulfill({ status: 202, json }));
    await requestLink();
    await page.getByRole('heading', { name: heading }).waitFor();
    await page.getByText(text).waitFor();
    await page.unroute('**/dashboard/password_resets');
  }
});

test('the pages without login are accessible and fit a phone', async () => {
  const page = await pages.open();
  await page.goto('/login');
  const person = await joinTeam(app, tenant.organizationGuid);
  const other = await createTenant(app);
  const invite = async (email: string) => {
    const path = `/organizations/${other.organizationGuid}/members`;
    return String((await app.operate('POST', path, { email, role: 'viewer' })).body.invitation_link);
  };
  const reset = await app.operate('POST', `/members/${person.memberGuid}/password_reset`, {});
  for (const [path, heading] of [
    ['/login', 'Log in'],
    ['/forgot-password', 'Reset your password'],
    ['/set-password#token=used', 'This link does not work'],
    [String(reset.body.link), 'Set a new password'],
    [await invite('new-login@acme.test'), 'Join Acme'],
    [await invite(person.email), 'Join Acme'],
  ] as const) {
    // A change of the fragment alone would not open the link.
    await navigate(page, '/login');
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
    await navigate(page, path);
    await page.getByRole('heading', { name: heading }).waitFor();
    await assertAccessible(page, heading);
  }
  await page.getByLabel('Password', { exact: true }).fill('a brand new password');
  await page.getByLabel('Confirm password').fill('a brand new password');
  await page.getByRole('button', { name: 'Set password and join' }).click();
  await page.getByText('This email address already has an account').waitFor();
  await assertAccessible(page, 'invitation with an existing account');
  await page.getByLabel('Password', { exact: true }).fill('not the password');
  await page.getByRole('button', { name: 'Log in and join' }).click();
  await page.getByText('Email or password is incorrect').waitFor();
  await assertAccessible(page, 'failed login');
});

test('every path that the server serves is a page of the dashboard', async () => {
  const page = await pages.open();
  await enterAs(page, site, tenant, 'founder');
  await page.goto('/');
  await navigationOf(page).waitFor();
  const notFound = page.getByText('Page not found');
  for (const name of PAGES) {
    assert.equal((await app.server.inject(`/${name}`)).headers['content-type'], 'text/html; charset=utf-8');
    await navigate(page, '/nowhere');
    await notFound.waitFor();
    await navigate(page, `/${name}`);
    await notFound.waitFor({ state: 'detached' });
    await page.getByRole('heading', { level: 1 }).first().waitFor();
  }
});
