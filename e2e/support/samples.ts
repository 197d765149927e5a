import assert from 'node:assert/strict';
import { type Tenant, tokenOf } from '../../testing/app/tenant.ts';
import { createCustomer } from '../../testing/objects/customers.ts';
import { createFile, inline, PDF, PNG } from '../../testing/objects/files.ts';
import { reportObject } from '../../testing/objects/objects.ts';
import { createAuthenticator } from '../../testing/people/authenticator.ts';
import { browse, joinTeam, type Person } from '../../testing/people/dashboard.ts';
import type { Site } from './site.ts';

/** As long as names can be, without a place for a line break. */
export const LONG_NAME = 'x'.repeat(128);

/** A Founder with a name and a passkey, and an invited member. */
export async function createTeam({ app, url }: Site, { organizationGuid }: Tenant): Promise<Person> {
  const founder = await joinTeam(app, organizationGuid);
  await browse(app, 'PATCH', '/account', { as: founder, payload: { name: LONG_NAME } });
  const options = await browse(app, 'POST', '/account/passkeys/options', { as: founder, payload: {} });
  const response = createAuthenticator({ origin: url }).create(options.body as { challenge: string });
  const payload = { name: 'Laptop', response };
  const added = await browse(app, 'POST', '/account/passkeys', { as: founder, payload });
  assert.equal(added.status, 201, JSON.stringify(added.body));
  await app.operate('POST', `/organizations/${organizationGuid}/members`, {
    ...{ email: 'grace@acme.test', role: 'developer' },
  });
  return founder;
}

/** A file in each state, and transfers in several states. */
export async function createSamples({ app }: Site, tenant: Tenant): Promise<void> {
  const customerGuid = await createCustomer(app, tenant.bankGuid, { type: 'individual', name: LONG_NAME });
  const token = await tokenOf(app, tenant.organizationKey, 'files:execute');
  const owner = { customerGuid, token };
  await createFile(app, owner, { filename: 'passport.png', type: 'passport', ...inline(PNG) });
  await createFile(app, owner, { filename: 'not-a-picture.png', ...inline(PDF) });
  await createFile(app, owner, { filename: 'not-uploaded.png' });
  await app.fileProcessing.drain();
  for (const state of ['storing', 'reviewing', 'completed', 'failed'])
    await reportObject(app, 'transfer', { bankGuid: tenant.bankGuid, customerGuid }, { state });
}
