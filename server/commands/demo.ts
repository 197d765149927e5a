import type { App } from '../app.ts';
import type { CreatedApplication } from '../credentials/applications/service.ts';
import type { Bank, Organization } from '../credentials/organizations/service.ts';
import { systemActor } from '../infrastructure/audit/service.ts';
import { type Failure, isFailure } from '../infrastructure/runtime/failure.ts';
import type { RandomBytes } from '../infrastructure/runtime/guid.ts';
import { Secret } from '../infrastructure/runtime/secret.ts';
import type { NewObject } from '../objects/schema.ts';
import { OBJECT_TYPES } from '../objects/types.ts';
import type { Person } from '../people/members/people.ts';

export type Demo = {
  organization: Organization;
  bank: Bank;
  bankKey: CreatedApplication;
  organizationKey: CreatedApplication;
  founder: { email: string; password: Secret };
};

/** In a reserved domain (RFC 2606). */
export const FOUNDER_EMAIL = 'founder@demo.example';
const PASSWORD_BYTES = 12;
const INBOX_NAME = 'Demo inbox';

const FIRST = { number: 0, perPage: 1, offset: 0, after: undefined };

type Options = {
  randomBytes: RandomBytes;
  /** Where the service may deliver to its own address. */
  withInbox: boolean;
};

/** Creates a demo on an empty database. Undefined when the database has an Organization. */
export async function createDemo(app: App, { randomBytes, withInbox }: Options): Promise<Demo | undefined> {
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
  const tenant = { organizationGuid: organization.guid };
  const createKey = async (owner: { bank?: Bank }, name: string) =>
    required(await applications.create(systemActor, { ...tenant, ...owner }, { name }, 'optional'));
  const bankKey = await createKey({ bank }, 'Demo key');
  const organizationKey = await createKey({}, 'Demo Organization key');
  if (withInbox) await subscribeInbox(app, tenant.organizationGuid);
  // A start that closes the demo removes the keys and the inbox that are older than the Founder.
  const founder = await createFounder(app, organization.guid, randomBytes);
  await createObjects(app, bank);
  return { organization, bank, bankKey, organizationKey, founder };
}

async function subscribeInbox({ inboxes, subscriptions }: App, organizationGuid: string): Promise<void> {
  const visible = { organizationGuid, environment: 'sandbox' } as const;
  const { url } = required(await inboxes.create(systemActor, visible, { name: INBOX_NAME }));
  const subscription = { type: 'webhook', name: INBOX_NAME, url, environment: 'sandbox' } as const;
  required(await subscriptions.create(systemActor, visible, subscription));
}

/** The simulator moves them through their states, so that events arrive while the newcomer logs in. */
async function createObjects({ objects }: App, bank: Bank): Promise<void> {
  const visible = {
    organizationGuid: bank.organization_guid,
    environment: bank.environment,
    bankGuid: bank.guid,
  };
  const create = async (name: string, input: NewObject) => {
    const type = OBJECT_TYPES.find((each) => each.name === name);
    if (!type) throw new Error(`There is no object type ${name}`);
    return required(await objects.create(systemActor, visible, type, input));
  };
  const { guid: customer_guid } = await create('customer', { type: 'individual', name: 'Ada Lovelace' });
  await create('transfer', { customer_guid, transfer_type: 'funding', asset: 'USD', amount: 125_000 });
  await create('trade', { customer_guid, side: 'buy', symbol: 'BTC-USD', amount: 50_000 });
  const failing = { transfer_type: 'book', asset: 'USD', amount: 2_500, simulate: 'failed' };
  await create('transfer', { customer_guid, ...failing });
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
