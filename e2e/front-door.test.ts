import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PAGES } from '../server/dashboard/pages.ts';
import { createTenant } from '../testing/tenant.ts';
import { assertAccessible, assertFits } from './support/accessibility.ts';
import { playAgreedApi, refusal } from './support/agreed-api.ts';
import { launchBrowser } from './support/browser.ts';
import { createPages } from './support/pages.ts';
import { createDashboardSite } from './support/site.ts';

const site = await createDashboardSite();
const pages = createPages(await launchBrowser(), site.url);
const tenant = await createTenant(site.app);
const loggedOut = { 'GET /dashboard/session': () => refusal(401, 'authentication_failed') };

test('whoever is not logged in is led to the login, and back to where they were going', async () => {
  const page = await pages.open();
  await playAgreedApi(page, site, { tenant, role: 'founder' }, loggedOut);
  await page.goto('/keys?kind=organization');
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
  assert.equal(new URL(page.url()).searchParams.get('next'), '/keys?kind=organization');
  await page.getByLabel('Email').fill('ada@acme.test');
  await page.getByLabel('Password', { exact: true }).fill('correct horse battery staple');
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('heading', { name: 'API keys' }).waitFor();
  assert.match(page.url(), /\/keys\?kind=organization/);
});

test('an address that leads elsewhere after the login is not followed', async () => {
  const page = await pages.open();
  await playAgreedApi(page, site, { tenant, role: 'founder' });
  for (const next of ['//evil.example', 'https://evil.example/', '/\\evil.example', 'javascript:alert(1)']) {
    await page.goto(`/login?next=${encodeURIComponent(next)}`);
    await page.getByLabel('Email').fill('ada@acme.test');
    await page.getByLabel('Password', { exact: true }).fill('correct horse battery staple');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    assert.equal(new URL(page.url()).origin, site.url);
  }
});

test('a second factor is asked for once the password is right, and a refusal tells nothing', async () => {
  const page = await pages.open();
  await playAgreedApi(
    page,
    site,
    { tenant, role: 'founder' },
    {
      'POST /dashboard/login': ({ body }) => {
        if (body.password !== 'correct horse battery staple') return refusal(401, 'authentication_failed');
        if (body.totp_code === undefined) return refusal(401, 'totp_required');
        return body.totp_code === '123456' ? undefined : refusal(401, 'totp_invalid');
      },
    },
  );
  await page.goto('/login');
  await page.getByLabel('Email').fill('ada@acme.test');
  await page.getByLabel('Password', { exact: true }).fill('wrong');
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByText('That did not match').waitFor();
  await page.getByLabel('Password', { exact: true }).fill('correct horse battery staple');
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByLabel('Code').fill('000000');
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByText('That code is not right').waitFor();
});

test('the token of a link leaves the address at once, and is in no request line and no storage', async () => {
  const page = await pages.open();
  const token = 'a-token-that-nobody-else-may-see';
  const lines: string[] = [];
  page.on('request', (request) => lines.push(request.url()));
  await playAgreedApi(
    page,
    site,
    { tenant, role: 'founder' },
    {
      ...loggedOut,
      'POST /dashboard/links/inspect': ({ body }) =>
        body.token === token
          ? {
              body: {
                email: 'ada@acme.test',
                purpose: 'invitation',
                organization_name: 'Acme',
                has_password: false,
              },
            }
          : refusal(404, 'not_found'),
    },
  );
  await page.goto(`/set-password#token=${token}`);
  await page.getByRole('heading', { name: 'Join Acme' }).waitFor();
  assert.equal(await page.evaluate(() => location.href), `${site.url}/set-password`);
  assert.ok(!lines.join().includes(token));
  const stored = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
  assert.ok(!stored.includes(token));
  await page.getByLabel('Password', { exact: true }).fill('too short');
  await page.getByLabel('Password again').fill('too short');
  await page.getByRole('button', { name: 'Set the password and join' }).click();
  await page.getByText('At least 12 characters', { exact: true }).waitFor();
});

for (const colorScheme of ['light', 'dark'] as const)
  test(`the pages in front of the door are accessible and fit a phone (${colorScheme})`, async () => {
    const page = await pages.open({ colorScheme, viewport: { width: 380, height: 800 } });
    await playAgreedApi(
      page,
      site,
      { tenant, role: 'founder' },
      {
        ...loggedOut,
        'POST /dashboard/links/inspect': () => refusal(404, 'not_found'),
      },
    );
    for (const [path, heading] of [
      ['/login', 'Log in'],
      ['/forgot-password', 'Reset the password'],
      ['/set-password#token=used', 'This link does not work'],
    ] as const) {
      await page.goto(path);
      await page.getByRole('heading', { name: heading }).waitFor();
      assert.equal(
        await page.evaluate(() => document.documentElement.dataset.mantineColorScheme),
        colorScheme,
      );
      await assertAccessible(page, path);
      await assertFits(page, path);
    }
  });

test('every address that the server answers with the page is a page of the dashboard', async () => {
  const page = await pages.open();
  await playAgreedApi(page, site, { tenant, role: 'founder' });
  for (const name of PAGES) {
    await page.goto(`/${name}`);
    await page.getByRole('heading', { level: 1 }).first().waitFor();
    assert.equal(await page.getByText('There is no such page').count(), 0, name);
  }
});
