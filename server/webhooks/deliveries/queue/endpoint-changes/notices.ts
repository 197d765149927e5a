import { setTimeout as pause } from 'node:timers/promises';
import type { Notifications } from '../../../../infrastructure/database/connections/notifications.ts';
import type { Database } from '../../../../infrastructure/database/database.ts';
import type { Clock } from '../../../../infrastructure/runtime/clock.ts';
import { coalesce } from '../../../../infrastructure/runtime/coalesce.ts';
import type { Guids } from '../../../../infrastructure/runtime/guid.ts';
import type { Log } from '../../../../infrastructure/runtime/log.ts';
import type { Subscriptions } from '../../../subscriptions/service.ts';
import type { Lanes } from '../lanes/lanes.ts';
import { DISPATCHER_LEASE_MS, type Lease } from '../lease.ts';
import * as store from './notice-store.ts';

const CHANNEL = 'endpoint_notices';
const MAX_READ = 500;
/** Doubled with each look: a dispatcher that is slow or gone must not cost hundreds of queries. */
const FIRST_POLL_MS = 10;
const MAX_POLL_MS = 160;
const RETRY_AFTER_MS = 500;

type Deps = {
  database: Database;
  clock: Clock;
  guids: Guids;
  log: Log;
  notifications: Notifications;
  subscriptions: Subscriptions;
  lanes: Lanes;
  lease: Lease;
  /** Endpoints have changed and may have deliveries to send. */
  onChanged(): void;
};

/**
 * Tells every dispatcher that an endpoint has changed. A dispatcher deletes its notice once its lane has the change, so
 * that `announce` can wait until none sends to the old URL or to a paused endpoint. A notification only speeds this up:
 * notices are also read with each renewal of the lease.
 */
export function createEndpointNotices(deps: Deps) {
  const { database, clock, guids, log, notifications, subscriptions, lanes, lease, onChanged } = deps;
  const queries = database.reserved;

  const read = coalesce(async () => {
    try {
      await readAll();
    } catch (error) {
      log.warn({ reason: String(error) }, 'could not read changed endpoints; retrying');
    }
  });

  async function readAll(): Promise<void> {
    const dispatcher = lease.lastHolder();
    if (dispatcher === undefined) return;
    let notices: store.EndpointNotice[];
    do {
      notices = await store.selectNotices(queries, dispatcher, MAX_READ);
      if (notices.length === 0) return;
      const changed = new Set(notices.map(({ subscriptionGuid }) => subscriptionGuid));
      for (const endpoint of await subscriptions.endpoints([...changed])) lanes.applyChange(endpoint);
      await store.deleteNotices(
        queries,
        notices.map(({ guid }) => guid),
      );
      onChanged();
    } while (notices.length === MAX_READ);
  }

  async function insert(subscriptionGuid: string): Promise<string[]> {
    const dispatchers = await store.selectDispatchers(queries, clock.now());
    const notices = dispatchers.map((dispatcher) => ({ guid: guids.next(), dispatcher }));
    if (notices.length === 0) return [];
    await store.insertNotices(queries, subscriptionGuid, notices);
    await notifications
      .notify(CHANNEL)
      .catch((error: unknown) => log.debug({ reason: String(error) }, 'could not wake the dispatchers'));
    return notices.map(({ guid }) => guid);
  }

  return {
    read,

    listen: () => notifications.listen(CHANNEL, () => void read()),

    /**
     * To be called after the commit of a change. Returns once every dispatcher with a valid lease has it. While the
     * database cannot be asked, it waits until every lease has expired.
     */
    async announce(subscriptionGuid: string): Promise<void> {
      const about = { subscription_guid: subscriptionGuid };
      let notices: string[] | undefined;
      let pauseMs = 0;
      const giveUpAt = clock.now().getTime() + DISPATCHER_LEASE_MS;
      for (; clock.now().getTime() < giveUpAt; await pause(pauseMs)) {
        try {
          notices ??= await insert(subscriptionGuid);
          if (!(await store.areUnread(queries, notices, clock.now()))) return;
          pauseMs = Math.min(pauseMs * 2 || FIRST_POLL_MS, MAX_POLL_MS);
        } catch (error) {
          pauseMs = RETRY_AFTER_MS;
          log.warn({ ...about, reason: String(error) }, 'could not announce a changed endpoint');
        }
      }
      log.warn(about, 'a dispatcher has not read a changed endpoint');
    },
  };
}
