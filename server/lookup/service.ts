import type { Clients } from '../credentials/applications/clients.ts';
import type { Organizations } from '../credentials/organizations/service.ts';
import type { Files } from '../files/service.ts';
import { systemActor } from '../infrastructure/audit/service.ts';
import { isFailure } from '../infrastructure/runtime/failure.ts';
import type { Objects } from '../objects/service.ts';
import { OBJECT_TYPES, wordsOf } from '../objects/types.ts';
import type { People } from '../people/members/people.ts';
import type { Members } from '../people/members/service.ts';
import type { RequestLog } from '../request-log/service.ts';
import { holdsScope } from '../tokens/scopes.ts';
import type { Caller } from '../tokens/verifying/verifier.ts';
import type { Deliveries } from '../webhooks/deliveries/service.ts';
import type { Events } from '../webhooks/events/service.ts';
import type { Subscriptions } from '../webhooks/subscriptions/service.ts';
import type { Found } from './schema.ts';

/** Finds the object of an identifier in both environments, if the role of the person may read it. */
export type Lookup = ReturnType<typeof createLookup>;

const GUID = /(?<![0-9a-f])[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}(?![0-9a-f])/i;
const EMAIL = /^[^\s@]+@[^\s@]+$/;
const MAX_FOUND = 8;
/** The search shows no requests. */
const NO_REQUEST = { url: false, signatures: false };
/** More than an Organization has, including subscriptions that are being deleted. */
const SUBSCRIPTIONS = { number: 0, perPage: 100, offset: 0, after: undefined };

type Deps = {
  events: Events;
  deliveries: Deliveries;
  subscriptions: Subscriptions;
  files: Files;
  objects: Objects;
  organizations: Organizations;
  clients: Pick<Clients, 'find'>;
  people: People;
  members: Members;
  requestLog: RequestLog;
};
/** What a caller may read. */
type Reader = Pick<Caller, 'organizationGuid' | 'scopes'>;
type Finder = {
  scope: string;
  find(reader: Reader, guid: string): Promise<Omit<Found, 'guid'> | undefined>;
};

export function createLookup(deps: Deps) {
  const { subscriptions, members, people } = deps;
  const finders = findersOf(deps);

  /** One after the other, so that a call uses one connection; a guid names one thing. */
  async function findByGuid({ organizationGuid, scopes }: Reader, guid: string): Promise<Found[]> {
    for (const { scope, find } of finders) {
      const found = holdsScope(scopes, scope) ? await find({ organizationGuid, scopes }, guid) : undefined;
      if (found) return [{ guid, ...found }];
    }
    return [];
  }

  async function findMember({ organizationGuid, scopes }: Reader, email: string): Promise<Found[]> {
    const person = holdsScope(scopes, 'members:read') ? await people.findByEmail(email) : undefined;
    const member = person && (await members.get(organizationGuid, person.guid));
    if (!member || isFailure(member)) return [];
    return [{ type: 'member', guid: member.guid, name: member.email, detail: member.role }];
  }

  /** The endpoints of this URL, or of its host; a URL with a guid may be that of an expired object on the same host. */
  async function findEndpoints(reader: Reader, url: URL): Promise<Found[]> {
    const { organizationGuid, scopes } = reader;
    if (!holdsScope(scopes, 'subscription_events:read')) return [];
    const listed = await subscriptions.list({ organizationGuid }, SUBSCRIPTIONS, {});
    if (isFailure(listed)) return [];
    const ofHost = listed.rows.filter((row) => new URL(row.url).host === url.host);
    const exact = ofHost.filter((row) => visibleUrl(reader, row.url) === url.href);
    return (exact.length > 0 || GUID.test(url.href) ? exact : ofHost).map((row) => ({
      type: 'subscription',
      guid: row.guid,
      name: row.name,
      detail: visibleUrl(reader, row.url),
      environment: row.environment,
    }));
  }

  return {
    async find(caller: Caller, text: string): Promise<Found[]> {
      const wanted = text.trim();
      const guid = GUID.exec(wanted)?.[0].replaceAll('-', '').toLowerCase();
      const found = guid === undefined ? [] : await findByGuid(caller, guid);
      // The URL of an endpoint may contain a guid that names no object, such as that of an inbox.
      if (found.length > 0) return found;
      if (EMAIL.test(wanted)) return findMember(caller, wanted);
      const url = URL.canParse(wanted) ? new URL(wanted) : undefined;
      if (url?.protocol !== 'http:' && url?.protocol !== 'https:') return [];
      return (await findEndpoints(caller, url)).slice(0, MAX_FOUND);
    },
  };
}

function findersOf(deps: Deps): Finder[] {
  const { events, deliveries, subscriptions, files, objects, organizations, clients, members, requestLog } =
    deps;
  return [
    {
      scope: 'subscription_events:read',
      async find(reader, guid) {
        const event = await events.get(reader, guid);
        return isFailure(event)
          ? undefined
          : { type: 'event', name: event.event_type, ...placeOf(event.environment, event.bank_guid) };
      },
    },
    {
      scope: 'subscription_events:read',
      async find(reader, guid) {
        const delivery = await deliveries.get(reader, guid, NO_REQUEST);
        if (isFailure(delivery)) return undefined;
        const { event_type: name, state: detail, event_guid, environment, bank_guid } = delivery;
        const place = placeOf(environment, bank_guid);
        return { type: 'delivery', name, detail, subscription_event_guid: event_guid, ...place };
      },
    },
    {
      scope: 'subscription_events:read',
      async find(reader, guid) {
        const subscription = await subscriptions.get(reader, guid);
        if (isFailure(subscription)) return undefined;
        const { name, url, environment } = subscription;
        return { type: 'subscription', name, detail: visibleUrl(reader, url), environment };
      },
    },
    {
      scope: 'files:read',
      async find(reader, guid) {
        const withoutLinks = { withDownloadUrl: false, withUploadUrl: false };
        const found = await files.get(systemActor, reader, guid, withoutLinks);
        if (isFailure(found)) return undefined;
        const { file, state: detail } = found;
        return { type: 'file', name: file.filename, detail, ...placeOf(file.environment, file.bank_guid) };
      },
    },
    {
      scope: 'customers:read',
      async find(reader, guid) {
        const object = await objects.find(reader, guid);
        if (!object) return undefined;
        const { type, state, environment, bank_guid } = object;
        return {
          type: 'object',
          name: wordsOf(type),
          ...(state === null ? {} : { detail: state }),
          object_type: OBJECT_TYPES.find((each) => each.name === type)?.plural ?? type,
          ...placeOf(environment, bank_guid),
        };
      },
    },
    {
      scope: 'banks:read',
      async find(reader, guid) {
        const bank = await organizations.getVisibleBank(reader, guid);
        return isFailure(bank)
          ? undefined
          : { type: 'bank', name: bank.name, ...placeOf(bank.environment, bank.guid) };
      },
    },
    {
      scope: 'bank_applications:read',
      async find({ organizationGuid }, guid) {
        const client = await clients.find(guid);
        if (client?.organization_guid !== organizationGuid) return undefined;
        const { name, environment, bank_guid } = client;
        return { type: 'application', name, ...(environment ? placeOf(environment, bank_guid) : {}) };
      },
    },
    {
      scope: 'members:read',
      async find({ organizationGuid }, guid) {
        const member = await members.get(organizationGuid, guid);
        return isFailure(member) ? undefined : { type: 'member', name: member.email, detail: member.role };
      },
    },
    {
      scope: 'bank_applications:read',
      async find({ organizationGuid }, guid) {
        const request = await requestLog.find(organizationGuid, guid);
        if (!request) return undefined;
        const { method, path, status, message_code: code, environment, bank_guid } = request;
        const detail = code === null ? String(status) : `${status} ${code}`;
        const place = environment === 'both' ? {} : placeOf(environment, bank_guid);
        return { type: 'request', name: `${method} ${path}`, detail, ...place };
      },
    },
  ];
}

/** Without the right to manage subscriptions only the host: the path may contain a secret. */
function visibleUrl({ scopes }: Reader, text: string): string {
  const url = new URL(text);
  return holdsScope(scopes, 'subscriptions:read') ? url.href : url.host;
}

function placeOf(environment: 'production' | 'sandbox', bankGuid: string | null) {
  return { environment, ...(bankGuid === null ? {} : { bank_guid: bankGuid }) };
}
