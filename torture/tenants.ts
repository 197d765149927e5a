import type { Addresses } from './calls.ts';
import type { Behaviour, Endpoint } from './receivers.ts';

export const OPERATOR_TOKEN = 'the-operator-token-of-the-torture-run';
export type Tenant = { organizationGuid: string; bankGuid: string; customerGuid: string; token: string };
type Body = Record<string, unknown>;

/** Organizations with the endpoints of each. */
const ENDPOINTS: readonly (readonly Behaviour[])[] = [['fast', 'slow'], ['flaky'], ['fast', 'flaky']];
const SCOPE = 'customers:execute transfers:execute';

/** Before the dispatchers start, so that the receivers know the signing keys when the first request arrives. */
export async function createTenants({ url, operatorUrl }: Addresses, hooks: string) {
  const tenants: Tenant[] = [];
  const endpoints: Endpoint[] = [];
  for (const [index, behaviours] of ENDPOINTS.entries()) {
    const operate = (path: string, payload: object) =>
      post(`${operatorUrl}/operator${path}`, payload, OPERATOR_TOKEN);
    const organization = await operate('/organizations', {
      name: `Partner ${index + 1}`,
      features: ['webhooks', 'files'],
    });
    const path = `/organizations/${organization.guid}`;
    const bank = await operate(`${path}/banks`, { name: 'Bank', environment: 'sandbox' });
    for (const [number, behaviour] of behaviours.entries()) {
      const hook = `/partner-${index + 1}/${behaviour}-${number + 1}`;
      const { signing_key: signingKey } = await operate(`${path}/subscriptions`, {
        ...{ type: 'webhook', name: behaviour, url: hooks + hook, environment: 'sandbox' },
      });
      endpoints.push({
        ...{ path: hook, organizationGuid: String(organization.guid), behaviour },
        signingKey: String(signingKey),
      });
    }
    const key = await operate(`/banks/${bank.guid}/applications`, { name: 'Key', ip_allowlist: [] });
    const { access_token: token } = await post(`${url}/oauth/token`, {
      ...{ grant_type: 'client_credentials', scope: SCOPE },
      ...{ client_id: key.client_id, client_secret: key.client_secret },
    });
    const customer = await post(`${url}/api/customers`, { type: 'individual', name: 'Ada' }, String(token));
    tenants.push({
      ...{ organizationGuid: String(organization.guid), bankGuid: String(bank.guid) },
      ...{ customerGuid: String(customer.guid), token: String(token) },
    });
  }
  return { tenants, endpoints };
}

async function post(url: string, payload: object, token?: string): Promise<Body> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(payload),
  });
  const body = (await response.json()) as Body;
  if (!response.ok) throw new Error(`${url}: ${response.status} ${JSON.stringify(body)}`);
  return body;
}
