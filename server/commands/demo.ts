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

/** In a domain that nobody has (RFC 2606). */
export const FOUNDER_EMAIL = 'founder@demo.example';
const PASSWORD_BYTES = 12;

const FIRST = { number: 0, perPage: 1, offset: 0, after: undefined };

/** On an empty database: something to try the API with. Undefined when there is anything already. */
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

/** The Founder of a demo from an earlier start, unless an exposed start has closed the demo since. */
export async function findDemoFounder({ people, members }: App): Promise<Person | undefined> {
  const founder = await people.findByEmail(FOUNDER_EMAIL);
  if (!founder || (await members.organizationsOf(founder.guid)).length === 0) return undefined;
  return founder;
}

/** As anybody gets onto a team: invited, and with the link a password is set. */
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
  // Nobody has its cookie.
  await login.sessions.end(systemActor, session.member_guid, session.guid);
  return { email: FOUNDER_EMAIL, password: new Secret(password) };
}

function required<T>(result: T | Failure): T {
  if (isFailure(result)) throw new Error(result.message);
  return result;
}
