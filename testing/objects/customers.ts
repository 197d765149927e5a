import assert from 'node:assert/strict';
import type { TestApp } from '../app/app.ts';
import type { Tenant } from '../app/tenant.ts';

export type Environment = 'sandbox' | 'production';

/** A customer of a bank, as the platform's core reports one; works in both environments. */
export async function createCustomer(
  app: TestApp,
  bankGuid: string,
  details: { type: string; name?: string } = { type: 'individual' },
): Promise<string> {
  const guid = nextGuid(app);
  const { status, body } = await app.operate('PUT', `/objects/customer/${guid}`, {
    bank_guid: bankGuid,
    details,
  });
  assert.equal(status, 200, JSON.stringify(body));
  return guid;
}

/** A customer token with any scopes. */
export async function customerToken(
  app: TestApp,
  { organizationGuid, bankGuid, bankKey }: Tenant,
  customerGuid: string,
  scopes: readonly string[],
  environment: Environment = 'sandbox',
): Promise<string> {
  const { access_token } = await app.issuer.issue({
    tokenType: 'customer',
    subject: bankKey.clientId,
    ...{ organizationGuid, bankGuid, customerGuid, environment, scopes },
  });
  return access_token;
}

let made = 0;

/** Guids sort by their time; the core's clock is the app's. */
export function nextGuid(app: TestApp): string {
  made += 1;
  const time = app.clock.now().getTime().toString(16).padStart(12, '0');
  return `${time}7${'0'.repeat(3)}8${made.toString(16).padStart(15, '0')}`;
}
