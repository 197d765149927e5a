import { checkDeadlines, checkFailed, checkRules } from '../checks/rules.ts';
import { checkCounters, checkEvents, checkQueue } from '../checks/tables.ts';
import { checkWaiting, type Waiting } from '../checks/waiting.ts';
import type { Random } from '../machine/random.ts';
import { SHORT_JUMP_MS } from '../machine/scheduler.ts';
import { createActions } from './actions.ts';
import { createPlan } from './coincidences.ts';
import { Violation } from './model.ts';
import { createPartners } from './partners.ts';
import type { World } from './world.ts';

const DAY_MS = 24 * 3_600_000;
/** Shorter pauses are not worth a look at the tables. */
const MIN_PAUSE_MS = 15;
const CHECK_EVERY_RESTS = 8;
const LONG_PAUSE_MS = 60_000;
/** Periodic tasks run at least this often: partitions are created by them. */
const TASKS_EVERY_MS = 12 * 3_600_000;
const MAX_JUMP_MS = 12 * 3_600_000;
const ALL_AWAKE = 0.15;
const MANY_DUE = 8;
const MAX_STEPS = 150_000;
/** After the agenda and the end of all troubles. */
const SETTLE_MS = 140_000;

/** Runs the agenda of a seed to its end, with the checks. */
export async function runWorld(
  world: World,
  { days, without }: { days: number; without: ReadonlySet<number> },
): Promise<void> {
  const { scheduler, nodes, startAt, random } = world;
  const partners = createPartners(world);
  const actions = createActions(world, partners);
  const plan = createPlan(random.fork('agenda'), days);
  // One by one: the thread pool would end the file accesses of two nodes in any order.
  for (const node of nodes) {
    node.start();
    await scheduler.rest();
  }
  await until(world, () => nodes.every((node) => node.isUp()));
  let isReady = false;
  world.run(async () => {
    await partners.createTenants(plan.tenants);
    isReady = true;
  });
  await until(world, () => isReady);
  let fault = 0;
  const entries = plan.entries.filter(({ isFault }) => !isFault || !without.has(fault++));
  actions.schedule(entries);
  await runUntil(world, startAt + days * DAY_MS);
  await actions.heal();
  await until(world, () => nodes.every((node) => node.isUp()));
  await runUntil(world, scheduler.now() + SETTLE_MS);
  await checkAll(world);
}

async function until(world: World, condition: () => boolean): Promise<void> {
  await world.scheduler.rest();
  while (!condition()) await step(world);
}

async function step(world: World): Promise<void> {
  const failure = world.failure();
  if (failure) throw failure;
  if (!(await world.scheduler.step())) throw new Error('nothing is left to do');
  if (world.scheduler.steps() > MAX_STEPS) throw new Violation('the system does not come to rest');
}

/** Step by step while something happens; from one interesting moment to the next while nothing does. */
async function runUntil(world: World, end: number): Promise<void> {
  const { scheduler } = world;
  const random = world.random.fork('jumps');
  let rests = 0;
  let tasksAt = scheduler.now();
  while (scheduler.now() < end) {
    const now = scheduler.now();
    const pauseMs = (scheduler.nextAt() ?? end) - now;
    if (pauseMs > MIN_PAUSE_MS && world.isQuiet()) {
      const next = await nextMoment(world, random);
      rests += 1;
      if (rests % CHECK_EVERY_RESTS === 0) await checkAtRest(world);
      const limit = next.isShort ? now + SHORT_JUMP_MS : now + MAX_JUMP_MS;
      const target = Math.min(next.at, scheduler.nextBindingAt(), limit, end);
      if (target > now + pauseMs) {
        const runsTasks = next.needsTasks || target > tasksAt + TASKS_EVERY_MS;
        if (runsTasks) tasksAt = target;
        const isLong = target - now > LONG_PAUSE_MS;
        if (isLong) sleep(world, target, random);
        scheduler.jump(target, random, runsTasks);
      }
    }
    await step(world);
  }
}

/** Some hosts stay suspended until the next entry of the agenda: each that is awake costs statements. */
function sleep({ nodes, scheduler }: World, at: number, random: Random): void {
  const owners = nodes.filter((node) => node.isUp()).flatMap((node) => node.owner() ?? []);
  if (owners.length === 0) return;
  const isAllAwake = random.chance(ALL_AWAKE);
  const awake = random.pick(owners);
  for (const owner of owners)
    owner.frozenUntil =
      isAllAwake || owner === awake ? at : Math.max(at, Math.min(scheduler.nextFixedAt(), at + MAX_JUMP_MS));
}

/** `needsTasks`: the deadline of a rule has passed. */
type Moment = { at: number; isShort: boolean; needsTasks: boolean };

/** The next time at which some node has to do something, by the tables. */
async function nextMoment(world: World, random: Random): Promise<Moment> {
  const { side, scheduler, model } = world;
  const now = scheduler.now();
  const { rows } = await side.query<Waiting>(NEXT_MOMENT);
  checkWaiting(world, rows);
  const dues = rows.flatMap(({ due }) => (due ? [due.getTime()] : []));
  const rules = rows.flatMap(({ rule_at: at }) => (at ? [at.getTime()] : []));
  const needsTasks = rules.some((at) => at <= now);
  const isShort = rows.some((row) => row.holders.length > 0) || needsTasks;
  // Behind requests that hang, deliveries wait for their turn.
  const isSending = model.requests.some(({ endedAt, node }) => endedAt === undefined && !node.isDead);
  const first = Math.min(...dues.filter((at) => at > now || !isSending));
  // Hosts that sleep through the first due times find several deliveries due at once.
  const isAsleep = first > now + LONG_PAUSE_MS && (dues.length > MANY_DUE || random.chance(0.5));
  const wakesAt = isAsleep ? first + world.config.retryMaxDelayMs / 10 : first;
  const last = Math.max(...dues.filter((at) => at <= wakesAt), first);
  return { at: Math.min(last, ...rules.filter((at) => at > now)), isShort, needsTasks };
}

/** Per subscription: the first delivery that may be sent, and the next deadline of a rule. */
const NEXT_MOMENT = `
  select s.url, s.rule_at, q.due, least(q.leased_due, b.leased_due) as leased_due, q.holders || b.holders as holders
  from (
    select guid, url, paused_at, disabled_at, activated_at, first_delivery_guid, least(
      case when deleted_at is null then scheduled_deletion_at end,
      case when failed_at is null and deleted_at is null and disabled_at is null and paused_at is null
        then deliveries_failing_since + interval '7 days' end) as rule_at
    from subscriptions
  ) as s
  cross join lateral (
    select min(due_at) filter (where leased_by is not null) as leased_due,
           coalesce(array_agg(distinct leased_by::text) filter (where leased_by is not null), '{}') as holders,
           min(due_at) filter (where leased_by is null and s.paused_at is null
             and (s.activated_at is not null or coalesce(s.first_delivery_guid, delivery_guid) = delivery_guid)) as due
    from delivery_queue where subscription_guid = s.guid
  ) as q
  cross join lateral (
    select min(created_at) as leased_due, coalesce(array_agg(leased_by::text), '{}') as holders
    from delivery_batches where subscription_guid = s.guid
  ) as b
  where q.due is not null or q.leased_due is not null or b.leased_due is not null or s.rule_at is not null`;

async function checkAtRest(world: World): Promise<void> {
  await checkQueue(world);
  await checkRules(world);
  await checkDeadlines(world);
  await checkFailed(world);
}

async function checkAll(world: World): Promise<void> {
  await checkAtRest(world);
  await checkCounters(world);
  await checkEvents(world);
}
