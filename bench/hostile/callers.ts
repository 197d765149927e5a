import { randomBytes } from 'node:crypto';
import { allScopes } from '../../server/tokens/scopes.ts';
import type { Site } from '../shared/site.ts';

/** A tenant with access to nearly everything, so that bodies are read and not rejected before. */
export type Partner = { organizationGuid: string; token: string; customerGuid: string };
export type Session = { cookie: string; token: string };

export async function createPartner(site: Site): Promise<Partner> {
  const input = { name: 'Bench', features: ['files', 'webhooks'] };
  const organization = await site.operate('POST', '/organizations', input);
  const path = `/organizations/${organization.guid}`;
  const bank = await site.operate('POST', `${path}/banks`, { name: 'Bench', environment: 'sandbox' });
  const key = await site.operate('POST', `${path}/applications`, { name: 'Bench' });
  const issued = await site.call('POST', '/oauth/token', undefined, {
    grant_type: 'client_credentials',
    client_id: key.client_id,
    client_secret: key.client_secret,
    scope: allScopes().join(' '),
  });
  const token = String(issued.access_token);
  const customer = { type: 'individual', bank_guid: bank.guid };
  const { guid } = await site.call('POST', '/api/customers', token, customer);
  return { organizationGuid: String(organization.guid), token, customerGuid: String(guid) };
}

/**
 * Logs in as a new Founder each time: a member's dashboard calls are limited, user tokens expire after minutes, and a
 * logout ends the session.
 */
export function createFounders(site: Site, organizationGuid: string): () => Promise<Session> {
  let count = 0;
  return async () => {
    count += 1;
    const email = `founder-${count}@bench.example`;
    const password = randomBytes(16).toString('hex');
    const invited = await site.operate('POST', `/organizations/${organizationGuid}/members`, {
      email,
      role: 'founder',
    });
    const token = new URL(String(invited.invitation_link)).hash.slice('#token='.length);
    await browse(site, '/password', { token, password });
    const { headers } = await browse(site, '/login', { email, password });
    const [cookie = ''] = (headers.getSetCookie()[0] ?? '').split(';', 1);
    const input = { organization_guid: organizationGuid, environment: 'sandbox' };
    const issued = (await (await browse(site, '/token', input, cookie)).json()) as {
      access_token: string;
    };
    return { cookie, token: issued.access_token };
  };
}

async function browse({ url }: Site, path: string, input: object, cookie?: string): Promise<Response> {
  const response = await fetch(`${url}/dashboard${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(cookie === undefined ? {} : { cookie }) },
    body: JSON.stringify(input),
  });
  if (!response.ok) throw new Error(`POST /dashboard${path}: ${response.status} ${await response.text()}`);
  return response;
}
