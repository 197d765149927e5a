import type { IncomingHttpHeaders } from 'node:http';
import type { Organizations } from '../../credentials/organizations/service.ts';
import type { Base } from '../../infrastructure/base.ts';
import type { RateLimits } from '../../infrastructure/rate-limits/service.ts';
import { createBatcher } from '../../infrastructure/runtime/batcher.ts';
import { Failure } from '../../infrastructure/runtime/failure.ts';
import { isGuid } from '../../infrastructure/runtime/guid.ts';
import type { Subscriptions } from '../subscriptions/service.ts';
import { pathOf } from './service.ts';
import { checkSignature } from './signature-check.ts';
import { type Inbox, insertRequest, selectInboxesByToken, selectInboxForUpdate } from './store.ts';

export type { Inbox as ReceivingInbox } from './store.ts';
export type InboxReceiving = ReturnType<typeof createInboxReceiving>;
export type ReceivedRequest = {
  headers: IncomingHttpHeaders;
  /** Names and values in turn, as Node has them. */
  rawHeaders: readonly string[];
  body: Buffer;
  address: string | undefined;
};

const REQUESTS = {
  name: 'inbox',
  limit: 600,
  windowMs: 60_000,
  code: 'api_rate_limit_exceeded',
} as const;
const MAX_KEPT = 100;
/** Lookups of one statement: a flood of unknown tokens costs few statements. */
const MAX_BATCH = 500;
const MAX_EVENT_TYPE_CHARACTERS = 128;

type Deps = Base & {
  rateLimits: RateLimits;
  organizations: Pick<Organizations, 'checkFrozen'>;
  subscriptions: Pick<Subscriptions, 'endpointsOf'>;
};

/** Keeps what arrives at inboxes. */
export function createInboxReceiving(deps: Deps) {
  const { database, clock, guids, rateLimits, organizations, subscriptions } = deps;
  const findInBatch = createBatcher<string, Inbox | undefined>({
    maxBatch: MAX_BATCH,
    async run(tokens) {
      const found = await selectInboxesByToken(database.queries, tokens);
      const byToken = new Map(found.map((inbox) => [inbox.token, inbox]));
      return tokens.map((token) => byToken.get(token));
    },
  });

  return {
    /** Before the body is read. */
    async admit(token: string): Promise<Inbox | Failure> {
      const inbox = isGuid(token) ? await findInBatch(token) : undefined;
      if (!inbox) return notFound();
      return (await rateLimits.use(REQUESTS, inbox.guid)) ?? inbox;
    },

    async keep(inbox: Inbox, request: ReceivedRequest): Promise<Failure | undefined> {
      const { organization_guid: organizationGuid, guid: inbox_guid, answer } = inbox;
      const { headers, rawHeaders, body, address } = request;
      const eventGuid = headers['webhook-id'];
      return database.transaction(async (transaction) => {
        // One at a time: requests that delete the same old ones in another order would deadlock.
        if (!(await selectInboxForUpdate(transaction, organizationGuid, inbox_guid))) return notFound();
        const frozen = await organizations.checkFrozen(organizationGuid, transaction);
        if (frozen) return frozen;
        const endpoints = await subscriptions.endpointsOf(transaction, [organizationGuid]);
        const { signature, subscriptionGuid } = checkSignature(
          request,
          endpoints.filter(({ url }) => url.endsWith(pathOf(inbox.token))),
        );
        const row = {
          ...{ guid: guids.next(), inbox_guid, headers: pairsOf(rawHeaders), body, signature, answer },
          subscription_guid: subscriptionGuid ?? null,
          event_guid: typeof eventGuid === 'string' && isGuid(eventGuid) ? eventGuid : null,
          event_type: eventTypeOf(body) ?? null,
          address: address ?? null,
          received_at: clock.now(),
        };
        await insertRequest(transaction, row, MAX_KEPT);
        return undefined;
      });
    },
  };
}

function notFound(): Failure {
  return new Failure('not_found', 'No resource exists at this URL');
}

function pairsOf(rawHeaders: readonly string[]): [name: string, value: string][] {
  return rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ''] as [string, string]] : [],
  );
}

function eventTypeOf(body: Buffer): string | undefined {
  try {
    const { event_type: type } = JSON.parse(body.toString('utf8'));
    // PostgreSQL cannot store NUL in a text.
    const isShown = typeof type === 'string' && /^[\x20-\x7e]+$/.test(type);
    return isShown ? type.slice(0, MAX_EVENT_TYPE_CHARACTERS) : undefined;
  } catch {
    return undefined;
  }
}
