import type { Static } from 'typebox';
import type { Database } from '../../../../infrastructure/database/database.ts';
import { MAX_COUNTED } from '../../../../infrastructure/database/paging/paging.ts';
import type { Clock } from '../../../../infrastructure/runtime/clock.ts';
import { type Failure, isFailure } from '../../../../infrastructure/runtime/failure.ts';
import type { EventWindows } from '../../../events/windows.ts';
import type { Subscriptions } from '../../../subscriptions/service.ts';
import type { Visible } from '../../../visible.ts';
import { forceIndexOrder } from '../../store.ts';
import { findDeliveringEndpoint } from '../delivering-endpoints.ts';
import { countRedeliverable } from './failed-store.ts';
import type { PreviewParams, PreviewQuery, RedeliveryPreview } from './redelivery-schema.ts';
import { windowOf } from './redelivery-window.ts';
import { countWaitingUpTo } from './waiting-store.ts';

const DAY_MS = 24 * 3_600_000;

type Deps = { database: Database; clock: Clock; subscriptions: Subscriptions; eventWindows: EventWindows };

/** Counts what each kind of redelivery would send, up to `MAX_COUNTED`. */
export function createPreview({ database, clock, subscriptions, eventWindows }: Deps) {
  return async (
    visible: Visible,
    query: Static<typeof PreviewParams> & Static<typeof PreviewQuery>,
  ): Promise<RedeliveryPreview | Failure> => {
    const now = clock.now();
    const { subscription_guid: guid, since = dayBefore(now), until } = query;
    const window = windowOf({ since, until }, now);
    if (isFailure(window)) return window;
    const endpoint = await findDeliveringEndpoint(subscriptions, visible, guid);
    if (isFailure(endpoint)) return endpoint;
    const { organizationGuid, environment } = endpoint;
    const counted = { subscription_guid: guid, ...window };
    return database.lists.transaction().execute(async (transaction) => {
      await forceIndexOrder(transaction);
      const failed = await countRedeliverable(transaction, { ...counted, at: now }, MAX_COUNTED);
      const waiting = await countWaitingUpTo(transaction, counted, { now, limit: MAX_COUNTED });
      const all = await eventWindows.count(transaction, { organizationGuid, environment, ...window });
      return { ...counted, failed, ...waiting, all: Math.min(all, MAX_COUNTED) };
    });
  };
}

function dayBefore(now: Date): string {
  return new Date(now.getTime() - DAY_MS).toISOString();
}
