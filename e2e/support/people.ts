import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { Role } from '../../server/tokens/roles.ts';
import type { Tenant } from '../../testing/app/tenant.ts';
import { browserOf, joinTeam, logIn, type Person } from '../../testing/people/dashboard.ts';
import { ADDRESS, type Site } from './site.ts';

export async function submitLogin(page: Page, { email, password }: Pick<Person, 'email' | 'password'>) {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
}

export async function logOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Account:/ }).click();
  await page.getByRole('menuitem', { name: 'Log out' }).click();
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
}

/** Creates a member with this role and logs the browser in without the login page. */
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

/** Logs the browser in as an existing member. */
export async function enter(page: Page, { app, url }: Site, person: Person): Promise<void> {
  const answer = await logIn(app, person, { headers: { 'x-forwarded-for': ADDRESS } });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  const [name = '', value = ''] = browserOf(answer).cookie.split('=');
  await page.context().addCookies([{ name, value, url, httpOnly: true, sameSite: 'Strict' }]);
}

/** Opens an invitation to another Organization and accepts it as the logged-in member. */
export async function joinOrganization(
  page: Page,
  { app }: Site,
  { email }: Person,
  organizationGuid: string,
  role: Role = 'founder',
): Promise<void> {
  // The server sorts Organizations by the time of joining.
  app.clock.advance(1);
  const path = `/organizations/${organizationGuid}/members`;
  const { status, body } = await app.operate('POST', path, { email, role });
  assert.equal(status, 201, JSON.stringify(body));
  await page.goto(String(body.invitation_link));
  await page.getByRole('button', { name: 'Join', exact: true }).click();
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
}
