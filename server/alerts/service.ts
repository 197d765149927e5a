import type { Database, Queries, Transaction } from '../infrastructure/database/database.ts';
import { deleteCreatedUntil } from '../infrastructure/database/delete-old.ts';
import type { Page, PageOf } from '../infrastructure/database/paging/paging.ts';
import { refuseUnknown } from '../infrastructure/http/requests/filters.ts';
import { type Clock, later } from '../infrastructure/runtime/clock.ts';
import type { Failure } from '../infrastructure/runtime/failure.ts';
import { firstGuidAt, type Guids } from '../infrastructure/runtime/guid.ts';
import { holdsScope } from '../tokens/scopes.ts';
import type { Caller } from '../tokens/verifying/verifier.ts';
import type { NewAlert } from './details.ts';
import { ALERT_TYPES, type AlertType, kindOf } from './kinds.ts';
import * as store from './store.ts';

export type { AlertRow } from './store.ts';
export type Alerts = ReturnType<typeof createAlerts>;

const DAY_MS = 24 * 3_600_000;
/** Of one Organization and type within 24 hours: a script that changes keys all day must not fill the table. */
const MAX_ALERTS_PER_DAY = 100;
/** The bell shows 99+. */
const MAX_UNREAD = 100;

type Deps = {
  database: Database;
  clock: Clock;
  guids: Guids;
  retentionDays: number;
  /** Called after the commit of alerts, so that their notices need not wait for the next poll. */
  onRaised(): void;
};

type Filters = Omit<store.AlertFilters, 'type'> & { type?: readonly string[] | undefined };

export function createAlerts({ database, clock, guids, retentionDays, onRaised }: Deps) {
  return {
    /** In the transaction of the cause, so that neither commits without the other. */
    async raise(transaction: Transaction, alerts: readonly NewAlert[]): Promise<void> {
      if (alerts.length === 0) return;
      const now = clock.now();
      const rows = alerts.map((alert) => {
        const guid = guids.next();
        return {
          guid,
          organization_guid: alert.organizationGuid,
          environment: alert.environment ?? null,
          type: alert.type,
          occurrence: alert.occurrence ?? guid,
          subscription_guid: alert.subscriptionGuid ?? null,
          details: { ...alert.details },
        };
      });
      const since = firstGuidAt(later(now, -DAY_MS));
      await store.insertAlerts(transaction, rows, { now, since, most: MAX_ALERTS_PER_DAY });
      database.onEnd(transaction, (ending) => {
        if (ending === 'committed') onRaised();
      });
    },

    /**
     * Keys see alerts of their environment and of both. People see both environments: the bell of a person who works in
     * sandbox shows that production fails.
     */
    async list(
      caller: Caller,
      page: Page,
      { type: wanted, environment, ...filters }: Filters,
    ): Promise<PageOf<store.AlertRow> | Failure> {
      const refusal = refuseUnknown('type', wanted, ALERT_TYPES);
      if (refusal) return refusal;
      const visible = visibleTypes(caller);
      const type = visible.filter((name) => wanted?.includes(name) ?? true);
      const own = caller.type === 'user' ? undefined : caller.environment;
      const environments = own === undefined ? environment : (environment?.filter((e) => e === own) ?? [own]);
      if (environments?.length === 0) return { rows: [], total: 0, next: undefined };
      return store.selectAlerts(database.lists, caller.organizationGuid, page, {
        ...filters,
        type,
        environment: environments,
      });
    },

    find: (queries: Queries, organizationGuid: string, guidsToFind: readonly string[]) =>
      store.selectAlertsByGuid(queries, organizationGuid, guidsToFind),

    /** Up to 100. */
    countUnread: (caller: Caller, readThrough: string) =>
      store.countUnread(database.queries, caller.organizationGuid, {
        types: visibleTypes(caller),
        readThrough,
        most: MAX_UNREAD,
      }),

    /** Deletes alerts beyond the retention. */
    sweep: () => deleteCreatedUntil(database, 'alerts', later(clock.now(), -retentionDays * DAY_MS)),
  };
}

function visibleTypes({ scopes }: Caller): AlertType[] {
  return ALERT_TYPES.filter((type) => holdsScope(scopes, kindOf(type)?.scope ?? ''));
}
