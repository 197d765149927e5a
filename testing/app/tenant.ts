import assert from 'node:assert/strict';
import { type Role, scopesOfRole } from '../../server/tokens/roles.ts';
import { scopesFor } from '../../server/tokens/scopes.ts';
import type { TestApp } from './app.ts';

export type Key = { clientId: string; secret: string };
export type Tenant = {
  organizationGuid: string;
  bankGuid: string;
  organizationKey: Key;
  bankKey: Key;
};

/** The host of the production issuer under the default settings. */
export const PRODUCTION_HOST = 'production.localhost:4000';

/** An Organization with a bank, and a key pair of each with all scopes. */
export async function createTenant(
  app: TestApp,
  {
    environment = 'sandbox',
    ipAllowlist = [],
    features = ['webhooks', 'files'],
  }: { environment?: 'sandbox' | 'production'; ipAllowlist?: string[]; features?: string[] } = {},
): Promise<Tenant> {
  const organization = await app.operate('POST', '/organizations', { name: 'Acme', features });
  const organizationGuid = String(organization.body.guid);
  const bank = await app.operate('POST', `/organizations/${organizationGuid}/banks`, {
    name: 'Bank',
    environment,
  });
  const bankGuid = String(bank.body.guid);
  const input = { name: 'Key', ip_allowlist: ipAllowlist };
  const organizationKey = await createKey(app, `/organizations/${organizationGuid}/applications`, input);
  const bankKey = await createKey(app, `/banks/${bankGuid}/applications`, input);
  return { organizationGuid, bankGuid, organizationKey, bankKey };
}

export async function createKey(app: TestApp, path: string, input: object): Promise<Key> {
  const { status, body } = await app.operate('POST', path, input);
  assert.equal(status, 201, JSON.stringify(body));
  return { clientId: String(body.client_id), secret: String(body.client_secret) };
}

/** Gets a token over HTTP. */
export async function tokenOf(
  app: TestApp,
  key: Key,
  scope: string,
  { host = 'localhost:4000' }: { host?: string } = {},
): Promise<string> {
  const { status, body } = await app.call({
    method: 'POST',
    url: '/oauth/token',
    headers: { host },
    payload: { grant_type: 'client_credentials', client_id: key.clientId, client_secret: key.secret, scope },
  });
  assert.equal(status, 200, JSON.stringify(body));
  return String(body.access_token);
}

/** Every scope of the holder, except the given ones. */
export function everyScope(
  holder: 'organization' | 'bank' | 'customer',
  ...except: readonly string[]
): string {
  return scopesFor(holder)
    .filter((scope) => !except.includes(scope))
    .join(' ');
}

/** A user token of this role, with a second factor just now. */
export async function userToken(
  app: TestApp,
  organizationGuid: string,
  role: Role = 'founder',
  { except = [] }: { except?: readonly string[] } = {},
): Promise<string> {
  const scopes = scopesOfRole(role).filter((scope) => !except.includes(scope));
  const subject = 'f'.repeat(32);
  const proof = { provedAt: app.clock.now(), secondFactor: true };
  const user = { tokenType: 'user', subject, organizationGuid, scopes, ...proof } as const;
  const { access_token } = await app.issuer.issue(user);
  return access_token;
}
