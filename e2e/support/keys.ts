import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import type { Tenant } from '../../testing/app/tenant.ts';
import { allowCurrentAddress } from './one-time-secrets.ts';
import { app } from './suite.ts';

type KeyKind = 'bank' | 'organization';

/** Opens the keys page and the form of a new key, with a name and the current address. */
export async function fillKeyForm(page: Page, kind: KeyKind, name: string): Promise<Locator> {
  await page.goto(`/keys?kind=${kind}`);
  await page.getByRole('button', { name: `Generate ${kind} key` }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill(name);
  await allowCurrentAddress(page);
  return dialog;
}

/** Opens the keys page and a dialog for the key of the tenant. */
export async function openKeyDialog(page: Page, kind: KeyKind, action: 'Edit' | 'Rotate'): Promise<Locator> {
  await page.goto(`/keys?kind=${kind}`);
  await page.getByRole('button', { name: 'Actions for Key' }).click();
  await page.getByRole('menuitem', { name: action }).click();
  return page.getByRole('dialog');
}

export async function addBank(
  { organizationGuid }: Tenant,
  name: string,
  environment: string,
): Promise<string> {
  const path = `/organizations/${organizationGuid}/banks`;
  const { status, body } = await app.operate('POST', path, { name, environment });
  assert.equal(status, 201, JSON.stringify(body));
  return String(body.guid);
}

export async function selectBank(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: /^Bank:/ }).click();
  await page.getByRole('option', { name }).click();
}
