import type { App } from '../app.ts';
import type { CreatedApplication } from '../credentials/applications/service.ts';
import type { Bank, Organization } from '../credentials/organizations/service.ts';
import { systemActor } from '../infrastructure/audit/service.ts';
import { type Failure, isFailure } from '../infrastructure/runtime/failure.ts';
import type { RandomBytes } from '../infrastructure/runtime/guid.ts';
import { Secret } from '../infrastructure/runtime/secret.ts';
import type { Person } from '../people/members/people.ts';

export type Demo = {
  organization: Organization;
  bank: Bank;
  bankKey: CreatedApplication;
  founder: { email: string; password: Secret };
};

/** In a reserved domain (RFC 2606). */
export const FOUNDER_EMAIL = 'founder@demo.example';
const PASSWORD_BYTES = 12;

const FIRST = { number: 0, perPage: 1, offset: 0, after: undefined };

/** Creates a demo on an empty database. Undefined when the database has an Organization. */
export async function createDemo(app: App, randomBytes: RandomBytes): Promise<Demo | undefined> {
  const { organizations, applications } = app;
  const existing = await organizations.list(FIRST);
  if (existing.total > 0) return undefined;
  const organization = await organizations.create(systemActor, {
    name: 'Demo Organization',
    features: ['webhooks', 'files'],
  });
  const bank = required(
    await organizations.createBank(systemActor, organization.guid, {
      name: 'Demo Bank',
      environment: 'sandbox',
    }),
  );
  const owner = { organizationGuid: organization.guid, bank };
  const bankKey = required(await applications.create(systemActor, owner, { name: 'Demo key' }, 'optional'));
  const founder = await createFounder(app, organization.guid, randomBytes);
  return { organization, bank, bankKey, founder };
}

/** The Founder of an earlier demo that was not closed since. */
export async function findDemoFounder({ people, members }: App): Promise<Person | undefined> {
  const founder = await people.findByEmail(FOUNDER_EMAIL);
  if (!founder || (await members.organizationsOf(founder.guid)).length === 0) return undefined;
  return founder;
}

/** By the same invitation and link as every member. */
async function createFounder(
  { login }: App,
  organizationGuid: string,
  randomBytes: RandomBytes,
): Promise<Demo['founder']> {
  const invitation = { email: FOUNDER_EMAIL, role: 'founder' } as const;
  const { link } = required(await login.invitations.invite(systemActor, organizationGuid, invitation));
  const password = Buffer.from(randomBytes(PASSWORD_BYTES)).toString('base64url');
  const token = new URL(link.reveal()).hash.replace('#token=', '');
  const input = { token, password, name: 'Demo Founder', totpCode: undefined };
  const nowhere = { address: undefined, userAgent: undefined, requestId: 'demo' };
  const { session } = required(await login.accounts.setPassword(input, nowhere));
  await login.sessions.end(systemActor, session.member_guid, session.guid);
  return { email: FOUNDER_EMAIL, password: new Secret(password) };
}

function required<T>(result: T | Failure): T {
  if (isFailure(result)) throw new Error(result.message);
  return result;
}
