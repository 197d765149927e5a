import type { World } from '../world/world.ts';

/** Invariant 5, by the tables: the rules of subscriptions, to the second. */
const MAX_COUNTED = 5;
const SECOND = "interval '1 second'";

export async function checkRules({ side, model, scheduler }: World): Promise<void> {
  const { rows } = await side.query<{ rule: string; subscription: string }>(
    `select 'failed before seven days of failures' as rule, url as subscription from subscriptions
     where failed_at < deliveries_failing_since + interval '7 days'
     union all
     select 'deleted before its time', url from subscriptions where deleted_at < scheduled_deletion_at
     union all
     select 'failing since a success', s.url from subscriptions as s
     where deliveries_failing_since is not null and failed_at is null and not exists (
       select 1 from deliveries as d where d.subscription_guid = s.guid and d.failing_since is not null)
     union all
     select 'a delivery is both completed and failed', subscription_guid::text from deliveries
     where completed_at is not null and failed_at is not null
     union all
     select 'retried after seven days', d.subscription_guid::text from deliveries as d
     join delivery_queue as q on q.delivery_guid = d.guid
     where q.due_at > d.created_at + interval '7 days' + ${SECOND}
     union all
     select 'a failed subscription has a waiting delivery', s.url from subscriptions as s
     join delivery_queue as q on q.subscription_guid = s.guid
     where s.failed_at < $1::timestamptz - interval '5 minutes' and s.paused_at is null
     limit 1`,
    [new Date(scheduler.now())],
  );
  model.check(rows.length === 0, () => `${rows[0]?.rule}: ${rows[0]?.subscription}`);
  const { rows: counted } = await side.query<{ organization: string; count: number }>(
    `select organization_guid::text as organization, count(*)::int as count from subscriptions
     where failed_at is null and scheduled_deletion_at is null and deleted_at is null
     group by 1 having count(*) > ${MAX_COUNTED}`,
  );
  model.check(counted.length === 0, () => `${counted[0]?.count} subscriptions of one Organization`);
}

/** Without an end of its subscription, a delivery fails only when the next attempt would come after seven days. */
export async function checkFailed({ side, model, config }: World): Promise<void> {
  const { rows } = await side.query<{ url: string }>(
    `select distinct s.url from deliveries as d join subscriptions as s on s.guid = d.subscription_guid
     where s.failed_at is null and s.scheduled_deletion_at is null and s.disabled_at is null
       and d.failed_at < d.created_at + interval '7 days' - make_interval(secs => $1)`,
    [(config.retryMaxDelayMs * 1.1) / 1_000 + 20],
  );
  const early = rows.filter(({ url }) => model.byUrl(url)?.mayHaveStopped === false);
  model.check(early.length === 0, () => `a delivery to ${early[0]?.url} failed before seven days`);
}

/** A delivery's subscription has been failing for seven days, and some node was up: it must have failed by now. */
export async function checkDeadlines({ side, model, scheduler, nodes }: World): Promise<void> {
  if (!nodes.some((node) => node.isUp())) return;
  const since = Math.max(model.lastFaultEnd(), scheduler.jumpedAt());
  const { rows } = await side.query<{ url: string }>(
    `select url from subscriptions where failed_at is null and deleted_at is null and disabled_at is null
       and paused_at is null and deliveries_failing_since is not null and greatest(deliveries_failing_since + interval '7 days', $2) < $1::timestamptz - interval '2 minutes'
     union all
     select url from subscriptions
     where deleted_at is null and scheduled_deletion_at is not null and greatest(scheduled_deletion_at, $2) < $1::timestamptz - interval '2 minutes' limit 1`,
    [new Date(scheduler.now()), new Date(since)],
  );
  model.check(rows.length === 0, () => `the deadline of a rule has passed for ${rows[0]?.url}`);
}
