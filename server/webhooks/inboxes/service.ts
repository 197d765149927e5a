import type { Static } from 'typebox';
import { checkFeature } from '../../credentials/organizations/features.ts';
import type { Organizations } from '../../credentials/organizations/service.ts';
import type { Actor, Change } from '../../infrastructure/audit/service.ts';
import type { Base } from '../../infrastructure/base.ts';
import { type RecordAnswer, recordNothing } from '../../infrastructure/idempotency/record-answer.ts';
import { changesOf, replacedBy } from '../../infrastructure/runtime/changes.ts';
import { later } from '../../infrastructure/runtime/clock.ts';
import { Failure, isFailure, type Precondition } from '../../infrastructure/runtime/failure.ts';
import { firstGuidAt, type RandomBytes } from '../../infrastructure/runtime/guid.ts';
import type { Visible } from '../visible.ts';
import type { InboxChanges, NewInbox } from './schema.ts';
import * as store from './store.ts';

export type Inboxes = ReturnType<typeof createInboxes>;
export type Inbox = store.Inbox & { url: string };

/** As many as an Organization has endpoints. */
const MAX_INBOXES = 5;
const TOKEN_BYTES = 16;
/** Requests are kept for a day. */
const KEEP_MS = 24 * 3_600_000;

type Deps = Base & { organizations: Organizations; randomBytes: RandomBytes; baseUrl: string };

/** Endpoints in the sandbox for partners who have no server yet. */
export function createInboxes(deps: Deps) {
  const { database, clock, guids, audit, organizations, randomBytes, baseUrl } = deps;

  const withUrl = (inbox: store.Inbox): Inbox => ({ ...inbox, url: urlOf(baseUrl, inbox.token) });
  const oldestKept = () => firstGuidAt(later(clock.now(), -KEEP_MS));

  async function find({ organizationGuid, environment }: Visible, guid: string): Promise<Inbox | Failure> {
    if (environment === 'production') return notFound();
    const inbox = await store.selectInbox(database.queries, organizationGuid, guid);
    return inbox ? withUrl(inbox) : notFound();
  }

  return {
    create(
      actor: Actor,
      { organizationGuid, environment }: Visible,
      { name, answer = 'success' }: Static<typeof NewInbox>,
      recordAnswer: RecordAnswer<Inbox> = recordNothing,
    ): Promise<Inbox | Failure> {
      return database.transaction(async (transaction) => {
        if (environment === 'production')
          return new Failure(
            'not_implemented',
            'Inboxes can be created in sandbox only; in production use an endpoint of your own',
          );
        // The lock serializes counting and inserting.
        const organization = await organizations.lockForUpdate(transaction, organizationGuid);
        if (isFailure(organization)) return organization;
        const missing = checkFeature(organization, 'webhooks');
        if (missing) return missing;
        const existing = await store.selectInboxes(transaction, organizationGuid);
        if (existing.length >= MAX_INBOXES)
          return new Failure(
            'inbox_limit_reached',
            `Inbox limit of the Organization reached (${MAX_INBOXES}); delete one first`,
          );
        const inbox: store.Inbox = {
          guid: guids.next(),
          organization_guid: organizationGuid,
          ...{ name, answer, token: Buffer.from(randomBytes(TOKEN_BYTES)).toString('hex') },
          created_at: clock.now(),
        };
        await store.insertInbox(transaction, inbox);
        await audit.record(transaction, actor, { ...changeOf('create', inbox), changes: { name, answer } });
        const created = withUrl(inbox);
        await recordAnswer(transaction, created);
        return created;
      });
    },

    async list({ organizationGuid, environment }: Visible): Promise<Inbox[]> {
      if (environment === 'production') return [];
      return (await store.selectInboxes(database.lists, organizationGuid)).map(withUrl);
    },

    find,

    update(
      actor: Actor,
      { organizationGuid, environment }: Visible,
      guid: string,
      input: Static<typeof InboxChanges>,
      precondition?: Precondition<Inbox>,
    ): Promise<Inbox | Failure> {
      return database.transaction(async (transaction) => {
        if (environment === 'production') return notFound();
        const current = await store.selectInboxForUpdate(transaction, organizationGuid, guid);
        if (!current) return notFound();
        const differs = precondition?.(withUrl(current));
        if (differs) return differs;
        const changes = changesOf(current, input);
        if (!changes) return withUrl(current);
        const before = replacedBy(changes, current);
        await audit.record(transaction, actor, { ...changeOf('update', current), changes, before });
        return withUrl(await store.updateInbox(transaction, current, changes));
      });
    },

    remove(
      actor: Actor,
      { organizationGuid, environment }: Visible,
      guid: string,
    ): Promise<Failure | undefined> {
      return database.transaction(async (transaction) => {
        if (environment === 'production') return notFound();
        const current = await store.selectInboxForUpdate(transaction, organizationGuid, guid);
        if (!current) return notFound();
        await store.deleteInbox(transaction, current);
        await audit.record(transaction, actor, changeOf('delete', current));
        return undefined;
      });
    },

    async requestsOf(tenant: Visible, guid: string): Promise<store.InboxRequestSummary[] | Failure> {
      const inbox = await find(tenant, guid);
      return isFailure(inbox) ? inbox : store.selectRequests(database.lists, inbox, oldestKept());
    },

    async request(
      { organizationGuid, environment }: Visible,
      guid: string,
    ): Promise<store.InboxRequest | Failure> {
      const isKept = environment !== 'production' && guid >= oldestKept();
      const found = isKept && (await store.selectRequest(database.queries, organizationGuid, guid));
      return found || new Failure('not_found', 'There is no such request; requests are kept for 24 hours');
    },

    sweep: () => store.deleteRequestsBefore(database.queries, oldestKept()),
  };
}

function urlOf(baseUrl: string, token: string): string {
  return `${baseUrl}${pathOf(token)}`;
}

/** A subscription keeps its URL when the base URL of the service changes: compare the path. */
export function pathOf(token: string): string {
  return `/portico-inbox/${token}`;
}

function changeOf(verb: 'create' | 'update' | 'delete', inbox: store.Inbox): Change {
  return {
    action: `inbox.${verb}`,
    organizationGuid: inbox.organization_guid,
    objectType: 'inbox',
    objectId: inbox.guid,
  };
}

function notFound(): Failure {
  return new Failure('not_found', 'There is no such inbox');
}
