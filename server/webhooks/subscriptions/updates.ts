import type { Static } from 'typebox';
import type { Actor, Audit } from '../../infrastructure/audit/service.ts';
import type { Transaction } from '../../infrastructure/database/database.ts';
import type { RateLimit, RateLimits } from '../../infrastructure/rate-limits/service.ts';
import { Failure, isFailure, type Precondition } from '../../infrastructure/runtime/failure.ts';
import type { Visible } from '../visible.ts';
import type { Change, ChangeFound } from './changing.ts';
import { selectEndpointsOf } from './endpoint-store.ts';
import type { FirstEvents } from './first-events.ts';
import { changeOf } from './records.ts';
import type { SubscriptionChanges } from './schema.ts';
import { MAX_RECEIVING_AT_URL, type Subscription, type SubscriptionRow } from './state.ts';
import * as store from './store.ts';
import { checkUrl, normalisedUrl } from './url.ts';

/**
 * Each new URL gets a request, so that changes could be used to send requests to many URLs. Other calls do not count:
 * clients send back whole objects.
 */
const URL_CHANGE_LIMIT = 30;
const URL_CHANGE_WINDOW_MS = 3_600_000;
const URL_CHANGES: RateLimit = {
  name: 'subscription_url',
  limit: URL_CHANGE_LIMIT,
  windowMs: URL_CHANGE_WINDOW_MS,
  code: 'api_rate_limit_exceeded',
};

type Deps = {
  audit: Audit;
  rateLimits: RateLimits;
  changeFound: ChangeFound;
  firstEvents: FirstEvents;
  endHolds(transaction: Transaction, subscriptionGuid: string): Promise<void>;
  announceChange(guid: string): Promise<void>;
};

/** Changes of partners: name, URL and pause. */
export function createUpdates(deps: Deps) {
  const { audit, rateLimits, changeFound, firstEvents, endHolds, announceChange } = deps;

  async function refusalOfMove(
    transaction: Transaction,
    current: SubscriptionRow,
    url: string,
    now: Date,
  ): Promise<Failure | undefined> {
    const refused = refusalOfState(current, 'url');
    if (refused) return refused;
    const receiving = await selectEndpointsOf(transaction, [current.organization_guid], now);
    return refusalOfUrl(
      receiving.filter(({ guid }) => guid !== current.guid),
      url,
    );
  }

  return {
    /** Returns once no dispatcher sends to the old URL or to a paused endpoint, apart from requests in flight. */
    async update(
      actor: Actor,
      tenant: Visible,
      guid: string,
      { name, url, paused }: Static<typeof SubscriptionChanges>,
      precondition?: Precondition<Subscription>,
    ): Promise<Subscription | Failure> {
      let changesEndpoint = false;
      let usesLimit = false;
      const change =
        (mayMove: boolean): Change =>
        async (transaction, current, now) => {
          const renames = name !== undefined && name !== current.name;
          const invalid = url !== undefined && url !== current.url && checkUrl(url, current.environment);
          if (invalid) return invalid;
          // Another spelling is not stored: the outcomes of requests in flight are compared by the stored URL.
          const moves = url !== undefined && normalisedUrl(url) !== normalisedUrl(current.url);
          const switches = paused !== undefined && paused !== (current.paused_at !== null);
          if (!renames && !moves && !switches) return current;
          const refused =
            (moves && (await refusalOfMove(transaction, current, url, now))) ||
            (switches && paused && refusalOfState(current, 'paused'));
          if (refused) return refused;
          usesLimit = moves && !mayMove;
          if (usesLimit) return current;
          changesEndpoint = moves || switches;
          await audit.record(
            transaction,
            actor,
            changeOf('update', current, {
              ...(renames ? { name } : {}),
              ...(moves ? { url } : {}),
              ...(switches ? { paused } : {}),
            }),
          );
          const row = await store.updateSubscription(transaction, guid, {
            ...(renames ? { name } : {}),
            ...(moves ? { url, ...STARTED_AGAIN } : {}),
            ...(switches && paused ? { paused_at: now } : {}),
            // The time of a pause does not count as failing.
            ...(switches && !paused ? { paused_at: null, deliveries_failing_since: null } : {}),
            // Deliveries scheduled before are due at once when the new URL has answered, or at the end of the pause.
            ...(moves || (switches && !paused) ? { retries_early_before: now } : {}),
            ...(changesEndpoint ? { endpoint_version: store.nextVersion } : {}),
            updated_at: now,
          });
          if (moves) await endHolds(transaction, guid);
          // A pause may have lasted longer than the retries of the first event.
          if (moves || (switches && !paused)) await firstEvents.enqueueMissing(transaction, row);
          return row;
        };
      const lockedOrganization = url === undefined ? undefined : tenant.organizationGuid;
      const run = (mayMove: boolean) =>
        changeFound(tenant, guid, change(mayMove), { lockedOrganization, precondition, author: actor });
      let updated = await run(false);
      if (usesLimit) {
        // Between two transactions, because counting needs a connection of its own.
        const limited = await rateLimits.use(URL_CHANGES, guid);
        if (limited) return limited;
        updated = await run(true);
      }
      if (changesEndpoint && !isFailure(updated)) await announceChange(guid);
      return updated;
    },
  };
}

/** The new endpoint receives one event until it answers 2xx, and the failures of the old one are not its own. */
const STARTED_AGAIN = { activated_at: null, first_delivery_guid: null, deliveries_failing_since: null };

function refusalOfState(current: SubscriptionRow, field: 'url' | 'paused'): Failure | undefined {
  if (current.scheduled_deletion_at !== null)
    return new Failure(
      'state_conflict',
      `${field} of a deleting subscription cannot be changed; create a new subscription`,
    );
  if (current.failed_at !== null)
    return new Failure(
      'state_conflict',
      `${field} of a failed subscription cannot be changed; create a new subscription`,
    );
  return undefined;
}

export function refusalOfUrl(receiving: readonly { url: string }[], url: string): Failure | undefined {
  const wanted = normalisedUrl(url);
  const holding = receiving.filter((each) => normalisedUrl(each.url) === wanted);
  if (holding.length < MAX_RECEIVING_AT_URL) return undefined;
  return new Failure(
    'subscription_limit_reached',
    `Limit of subscriptions with this url reached (${MAX_RECEIVING_AT_URL}, deleting ones included); use another url or wait until a deletion is complete`,
  );
}
