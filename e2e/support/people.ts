import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { Role } from '../../server/tokens/roles.ts';
import { browserOf, joinTeam, logIn, type Person } from '../../testing/dashboard.ts';
import type { Tenant } from '../../testing/tenant.ts';
import { ADDRESS, type Site } from './site.ts';

/** Fills in the form that the page shows. */
export async function fillLogin(page: Page, { email, password }: Pick<Person, 'email' | 'password'>) {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
}

export async function logOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Account of/ }).click();
  await page.getByRole('menuitem', { name: 'Log out' }).click();
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
}

/** Puts a new person of this role into the browser, logged in: for tests that are about what comes after it. */
export async function enterAs(
  page: Page,
  site: Site,
  { organizationGuid }: Pick<Tenant, 'organizationGuid'>,
  role: Role,
): Promise<Person> {
  const person = await joinTeam(site.app, organizationGuid, { role });
  await enter(page, site, person);
  return person;
}

/** The same for somebody who is on the team already. */
export async function enter(page: Page, { app, url }: Site, person: Person): Promise<void> {
  const answer = await logIn(app, person, { headers: { 'x-forwarded-for': ADDRESS } });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  const [name = '', value = ''] = browserOf(answer).cookie.split('=');
  await page.context().addCookies([{ name, value, url, httpOnly: true, sameSite: 'Strict' }]);
}
