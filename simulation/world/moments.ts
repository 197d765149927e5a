import { checkWaiting, OVERDUE_MS, type Waiting } from '../checks/waiting.ts';
import type { Random } from '../machine/random.ts';
import type { World } from './world.ts';

export const LONG_PAUSE_MS = 60_000;
const MANY_DUE = 8;

/** `isShort`: something is under way. `needsTasks`: the deadline of a rule has passed, or a delivery is orphaned. */
type Moment = { at: number; isShort: boolean; needsTasks: boolean };

/** The next time at which some node has to do something, by the tables. */
export async function nextMoment(world: World, random: Random): Promise<Moment> {
  const { side, scheduler, model } = world;
  const now = scheduler.now();
  const { rows } = await side.query<Waiting>(NEXT_MOMENT);
  const works = await nextWorks(world);
  checkWaiting(world, rows);
  const dues = rows.flatMap(({ due }) => (due ? [due.getTime()] : []));
  const rules = rows.flatMap(({ rule_at: at }) => (at ? [at.getTime()] : []));
  const needsTasks =
    [...rules, ...works.tasks].some((at) => at <= now) || rows.some((row) => row.is_orphaned);
  const isDue = needsTasks || works.polled.some((at) => at <= now);
  const isShort = isDue || rows.some((row) => row.holders.length > 0);
  // Behind requests that hang, deliveries wait for their turn.
  const isSending = model.requests.some(({ endedAt, node }) => endedAt === undefined && !node.isDead);
  const first = Math.min(...dues.filter((at) => at > now || !isSending));
  // Hosts that sleep through the first due times find several deliveries due at once.
  const isAsleep = first > now + LONG_PAUSE_MS && (dues.length > MANY_DUE || random.chance(0.5));
  const wakesAt = isAsleep ? first + world.config.retryMaxDelayMs / 10 : first;
  const last = Math.max(...dues.filter((at) => at <= wakesAt), first);
  const deadlines = [...rules, ...works.tasks, ...works.polled].filter((at) => at > now);
  return { at: Math.min(last, ...deadlines), isShort, needsTasks };
}

/** The next times at which nodes have to look after objects and files. */
async function nextWorks({
  side,
  scheduler,
  model,
  nodes,
}: World): Promise<{ polled: number[]; tasks: number[] }> {
  if (model.objects.length + model.files.length === 0) return { polled: [], tasks: [] };
  const { rows } = await side.query<{ what: string; at: Date | null; is_task: boolean }>(NEXT_WORKS);
  const since = Math.max(model.lastFaultEnd(), scheduler.jumpedAt());
  const works = rows.flatMap(({ what, at, is_task }) => (at ? [{ what, at: at.getTime(), is_task }] : []));
  for (const { what, at } of works)
    model.check(
      !nodes.some((node) => node.isUp()) || Math.max(at, since) + OVERDUE_MS > scheduler.now(),
      () => `${what} waits ${Math.round(scheduler.now() - Math.max(at, since))} ms past its time`,
    );
  return {
    polled: works.filter((work) => !work.is_task).map(({ at }) => at),
    tasks: works.filter((work) => work.is_task).map(({ at }) => at),
  };
}

const NEXT_WORKS = `
  select 'an object' as what, min(next_move_at) as at, false as is_task from objects
  union all select 'a file', min(next_look_at), false from files
  union all select 'the deletion of content', min(due_at), true from file_deletions`;

/**
 * Per subscription: the first delivery that may be sent, and the next deadline of a rule. An inactive one whose first
 * delivery has ended must get another while deliveries wait.
 */
const NEXT_MOMENT = `
  select s.url, s.rule_at, q.due, least(q.leased_due, b.leased_due) as leased_due, q.holders || b.holders as holders,
    exists (
      select from unnest(q.holders || b.holders) as holder
      where holder::uuid not in (select guid from dispatchers)
    ) as is_orphaned
  from (
    select guid, url, paused_at, disabled_at, activated_at, first_delivery_guid,
    exists (
      select 1 from delivery_queue where subscription_guid = guid and delivery_guid = first_delivery_guid
    ) as has_first, least(
      case when deleted_at is null then scheduled_deletion_at end,
      case when failed_at is null and deleted_at is null and disabled_at is null and paused_at is null
        then deliveries_failing_since + interval '7 days' end) as rule_at
    from subscriptions
  ) as s
  cross join lateral (
    select min(due_at) filter (where leased_by is not null) as leased_due,
           coalesce(array_agg(distinct leased_by::text) filter (where leased_by is not null), '{}') as holders,
           min(due_at) filter (where leased_by is null and s.paused_at is null
             and (s.activated_at is not null or delivery_guid = s.first_delivery_guid or not s.has_first)) as due
    from delivery_queue where subscription_guid = s.guid
  ) as q
  cross join lateral (
    select min(created_at) as leased_due, coalesce(array_agg(leased_by::text), '{}') as holders
    from delivery_batches where subscription_guid = s.guid
  ) as b
  where q.due is not null or q.leased_due is not null or b.leased_due is not null or s.rule_at is not null`;
