import { OBJECT_TYPES } from '../../server/objects/types.ts';
import type { TestApp } from '../app/app.ts';
import { createKey } from '../app/tenant.ts';
import { CRYPTO_ACCOUNT, reportObject } from '../objects/objects.ts';
import { joinTeam } from '../people/dashboard.ts';
import { insertDeliveries } from '../webhooks/deliveries.ts';
import { publishEvents } from '../webhooks/events.ts';
import { anyInbox, anyInboxRequest } from '../webhooks/inboxes.ts';
import { anySubscription } from '../webhooks/subscriptions.ts';
import { type ApiOperation, type Callers, issueToken } from './api-callers.ts';
import { sampleOf } from './json-samples.ts';
import { addressOf, jsonBodyOf, type Operation } from './operations.ts';

/**
 * For each path with a parameter: an existing object, and whether it belongs to a bank (and so to an environment), to
 * one environment of the Organization, or to the whole Organization. A new path adds its line here.
 */
type PathObject = {
  boundTo: 'organization' | 'environment' | 'bank';
  create(app: TestApp, owner: Callers): Promise<string>;
};

const ofOrganization: PathObject = {
  boundTo: 'organization',
  create: async (_app, { organizationGuid }) => organizationGuid,
};
const ofSubscription: PathObject = {
  boundTo: 'environment',
  create: async (app, owner) => (await anySubscription(app, owner)).guid,
};
const ofDelivery: PathObject = {
  boundTo: 'environment',
  create: async (app, owner) =>
    (await insertDeliveries(app, owner, await anySubscription(app, owner), [{}]))[0] as string,
};
const ofInbox: PathObject = {
  boundTo: 'environment',
  create: async (app, owner) => (await anyInbox(app, owner)).guid,
};

const OBJECTS: Record<string, PathObject> = {
  '/api/organization_applications/{client_id}': {
    boundTo: 'organization',
    create: async (app, { organizationGuid }) => {
      const path = `/organizations/${organizationGuid}/applications`;
      return (await createKey(app, path, { name: 'Key', scopes: [] })).clientId;
    },
  },
  '/api/bank_applications/{client_id}': {
    boundTo: 'bank',
    create: async (app, { bankGuid }) =>
      (await createKey(app, `/banks/${bankGuid}/applications`, { name: 'Key', scopes: [] })).clientId,
  },
  '/api/organizations/{guid}': ofOrganization,
  '/api/banks/{guid}': { boundTo: 'bank', create: async (_app, { bankGuid }) => bankGuid },
  '/api/customers/{guid}': { boundTo: 'bank', create: async (_app, { customerGuid }) => customerGuid },
  '/api/files/{guid}': { boundTo: 'bank', create: async (app, owner) => createFileOf(app, owner) },
  ...objectsOfCustomers(),
  '/api/members/{guid}': {
    boundTo: 'organization',
    create: async (app, { organizationGuid }) =>
      (await joinTeam(app, organizationGuid, { role: 'viewer' })).memberGuid,
  },
  '/api/subscriptions/{guid}': ofSubscription,
  '/api/subscriptions/{guid}/test_event': ofSubscription,
  '/api/subscription_events/{guid}': {
    boundTo: 'environment',
    create: async (app, owner) => (await publishEvents(app, owner))[0] as string,
  },
  '/api/endpoint_health/{guid}': ofSubscription,
  '/api/endpoint_health/{guid}/timeline': ofSubscription,
  '/api/subscription_deliveries/{guid}': ofDelivery,
  '/api/subscription_deliveries/{guid}/request': ofDelivery,
  '/api/subscription_recoveries/{guid}': {
    boundTo: 'environment',
    create: async (app, owner) => {
      const { status, body } = await app.call({
        method: 'POST',
        url: '/api/subscription_recoveries',
        token: await issueToken(app, owner, 'user'),
        payload: {
          subscription_guid: (await anySubscription(app, owner)).guid,
          since: '2026-11-01T00:00:00Z',
        },
      });
      if (status !== 201) throw new Error(JSON.stringify(body));
      // Over at once: a subscription has only so many at a time.
      while (await app.redeliveries.step());
      return String(body.guid);
    },
  },
  '/api/subscription_recovery_previews/{subscription_guid}': ofSubscription,
  '/api/inboxes/{guid}': ofInbox,
  '/api/inboxes/{guid}/requests': ofInbox,
  '/api/inbox_requests/{guid}': { boundTo: 'environment', create: anyInboxRequest },
  ...objectsOfOperator(),
};

/** The paths under which the operator creates something. */
function objectsOfOperator(): Record<string, PathObject> {
  const created = ['banks', 'applications', 'members', 'subscriptions'];
  return {
    ...Object.fromEntries(created.map((name) => [`/operator/organizations/{guid}/${name}`, ofOrganization])),
    '/operator/banks/{guid}/applications': {
      boundTo: 'bank',
      create: async (_app, { bankGuid }) => bankGuid,
    },
    '/operator/members/{guid}/password_reset': {
      boundTo: 'organization',
      create: async (_app, { memberGuid }) => memberGuid,
    },
  };
}

/** Every kind of object except customers. */
function objectsOfCustomers(): Record<string, PathObject> {
  const types = OBJECT_TYPES.filter(({ customer }) => customer !== 'itself');
  return Object.fromEntries(
    types.map(({ name, plural }) => [
      `/api/${plural}/{guid}`,
      { boundTo: 'bank', create: (app, owner) => reportObject(app, name, owner) } satisfies PathObject,
    ]),
  );
}

/** Objects that the fields of a body must refer to, created only when needed. */
const NAMED: Record<string, (app: TestApp, owner: Callers) => Promise<unknown>> = {
  subscription_guid: async (app, owner) => (await anySubscription(app, owner)).guid,
  subscription_event_guid: async (app, owner) => (await publishEvents(app, owner))[0] as string,
  source_account_guid: (app, owner) => reportObject(app, 'account', owner),
  destination_account_guid: (app, owner) => reportObject(app, 'account', owner),
  external_bank_account_guid: (app, owner) => reportObject(app, 'external_bank_account', owner),
  account_guid: (app, owner) => reportObject(app, 'account', owner, CRYPTO_ACCOUNT),
  plan_guid: (app, owner) => reportObject(app, 'plan', owner),
  events: async (_app, { organizationGuid, bankGuid }) => [
    {
      organization_guid: organizationGuid,
      bank_guid: bankGuid,
      event_type: 'transfer.completed',
      object_guid: 'f'.repeat(32),
    },
  ],
};

async function createFileOf(app: TestApp, owner: Callers): Promise<string> {
  const { status, body } = await app.call({
    method: 'POST',
    url: '/api/files',
    token: await issueToken(app, owner, 'user'),
    payload: {
      type: 'other',
      filename: 'some.json',
      customer_guid: owner.customerGuid,
      content_type: 'application/json',
    },
  });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return String(body.guid);
}

const PARAMETER = /(?<=\{)\w+(?=\})/;

export function hasPathObject({ path }: Operation): boolean {
  return path.includes('{');
}

function pathObjectOf({ path }: Operation): PathObject {
  const object = OBJECTS[path];
  if (!object) throw new Error(`testing/api/api-calls.ts has no line in OBJECTS for ${path} yet`);
  return object;
}

/** Tokens that the route accepts and that have no access to the owner's object. */
export async function outsidersOf(
  app: TestApp,
  operation: ApiOperation,
  { owner, siblings, stranger }: Record<'owner' | 'siblings' | 'stranger', Callers>,
): Promise<[name: string, token: string][]> {
  const tokens: [string, string][] = [];
  for (const type of operation.types) {
    tokens.push([`a stranger's ${type} token`, await issueToken(app, stranger, type)]);
    const { boundTo } = pathObjectOf(operation);
    if (boundTo === 'organization') continue;
    const production = await issueToken(app, owner, type, { environment: 'production' });
    tokens.push([`a ${type} token of production`, production]);
    if (boundTo === 'bank' && (type === 'bank' || type === 'customer'))
      tokens.push([`a sibling ${type} token`, await issueToken(app, siblings, type)]);
  }
  return tokens;
}

/** The same call for another object. */
export function addressOfOther(operation: Operation, id: string): string {
  const [name = ''] = PARAMETER.exec(operation.path) ?? [];
  return addressOf(operation, { [name]: id });
}

/** A call that is valid except for its token. */
export async function validCallOf(app: TestApp, operation: Operation, owner: Callers) {
  const [name] = PARAMETER.exec(operation.path) ?? [];
  const given = name === undefined ? {} : { [name]: await pathObjectOf(operation).create(app, owner) };
  const payload = await bodyOf(app, operation, owner);
  return { method: operation.method, url: addressOf(operation, given), ...(payload && { payload }) };
}

/** Valid by the schema, with references to existing objects. */
async function bodyOf(app: TestApp, operation: Operation, owner: Callers): Promise<object | undefined> {
  const { bankGuid, customerGuid } = owner;
  const schema = jsonBodyOf(operation);
  if (!schema) return undefined;
  const meaningful: Record<string, unknown> = {
    bank_guid: bankGuid,
    customer_guid: customerGuid,
    scopes: ['customers:read'],
    ip_allowlist: ['198.35.26.96'],
    symbol: 'BTC-USD',
    deliver_amount: 100_000,
  };
  const fields = Object.keys(schema.properties ?? {}).filter((name) => name in meaningful);
  const chosen = Object.fromEntries(fields.map((name) => [name, meaningful[name]]));
  const named = Object.keys(schema.properties ?? {}).map(async (name) => [
    name,
    await NAMED[name]?.(app, owner),
  ]);
  const existing = (await Promise.all(named)).filter(([, guid]) => guid !== undefined);
  return { ...(sampleOf(schema) as object), ...chosen, ...Object.fromEntries(existing) };
}
