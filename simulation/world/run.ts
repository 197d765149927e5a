import { createActions } from '../actions/actions.ts';
import { createCalls } from '../actions/calls.ts';
import { createPartners } from '../actions/partners.ts';
import { createParts } from '../actions/perform-part.ts';
import { SHORT_RETENTION_DAYS } from '../agenda/agenda.ts';
import { createPlan } from '../agenda/coincidences.ts';
import { checkDelays } from '../checks/delays.ts';
import { checkFailingSince } from '../checks/failing.ts';
import { checkFiles, checkLeftovers } from '../checks/files.ts';
import { checkFinalStates } from '../checks/final-states.ts';
import { checkEndings, checkObjects } from '../checks/objects.ts';
import { checkRedelivered } from '../checks/redelivered.ts';
import { checkRetention } from '../checks/retention.ts';
import { checkDeadlines, checkFailed, checkRules } from '../checks/rules.ts';
import { checkBodies, checkCounters, checkEvents, checkQueue } from '../checks/tables.ts';
import type { Random } from '../machine/random.ts';
import { SHORT_JUMP_MS } from '../machine/scheduler.ts';
import { Violation } from './model.ts';
import { LONG_PAUSE_MS, nextMoment } from './moments.ts';
import type { World } from './world.ts';

const DAY_MS = 24 * 3_600_000;
/** Shorter pauses are not worth a look at the tables. */
const MIN_PAUSE_MS = 15;
const CHECK_EVERY_RESTS = 8;
/** Periodic tasks run at least this often: partitions are created by them. */
const TASKS_EVERY_MS = 24 * 3_600_000;
const MAX_JUMP_MS = 24 * 3_600_000;
const ALL_AWAKE = 0.15;
const MAX_STEPS = 150_000;
/** After the agenda and the end of all faults; and until a dispatcher has released deliveries that it lost track of. */
const IDLE_WAIT_MS = 40_000;
const MAX_IDLE_WAIT_MS = 140_000;
/** An endpoint that fails from the beginning has failed for seven days, and some node must have noticed. */
const LAST_DEADLINE_MS = 150_000;
/** Until a day is over for the retention, and until the task has run. */
const RETENTION_PASSES_DAYS = 1.1;
const EVENTS_AFTERWARDS = 3;

/** Runs the agenda of a seed to its end, with the checks. */
export async function runWorld(
  world: World,
  { days, without }: { days: number; without: ReadonlySet<number> },
): Promise<void> {
  const { scheduler, nodes, startAt, random } = world;
  const calls = createCalls(world);
  const partners = createPartners(world, calls);
  const actions = createActions(world, partners, createParts(world, calls, partners));
  const plan = createPlan(random.fork('agenda'), days);
  // One by one, as hosts do not start in the same step.
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
  await runUntil(world, startAt + days * DAY_MS + LAST_DEADLINE_MS);
  await actions.heal();
  await until(world, () => nodes.every((node) => node.isUp()));
  await waitUntilIdle(world);
  await checkAll(world);
  if (plan.retentionDays !== SHORT_RETENTION_DAYS) return;
  // The first hours are the end of a day.
  await runUntil(world, startAt + (plan.retentionDays + RETENTION_PASSES_DAYS) * DAY_MS);
  for (const [tenant] of world.model.tenants.entries())
    world.run(() => partners.postEvents(tenant, EVENTS_AFTERWARDS, tenant));
  await waitUntilIdle(world);
  await checkAtRest(world);
  await checkRetention(world);
}

async function waitUntilIdle(world: World): Promise<void> {
  const { scheduler, side } = world;
  const giveUpAt = scheduler.now() + MAX_IDLE_WAIT_MS;
  for (let isUnderWay = true; isUnderWay && scheduler.now() < giveUpAt; ) {
    await runUntil(world, scheduler.now() + IDLE_WAIT_MS);
    const { rows } = await side.query<{ leased: number }>(LEASED);
    isUnderWay = rows[0]?.leased !== 0;
  }
  const { rows } = await side.query('select 1 from delivery_batches limit 1');
  world.model.check(rows.length === 0, () => 'a batch is left although nothing disturbs the nodes');
}

const LEASED = `select (select count(*) from delivery_queue where leased_by is not null)::int
  + (select count(*) from delivery_batches)::int as leased`;

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
        const isLong = target - now > LONG_PAUSE_MS;
        const runsTasks = next.needsTasks || (isLong && target >= tasksAt + TASKS_EVERY_MS);
        // A short jump passes the time of few tasks.
        if (runsTasks && isLong) tasksAt = target;
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

async function checkAtRest(world: World): Promise<void> {
  await checkQueue(world);
  await checkRules(world);
  await checkDeadlines(world);
  await checkFailed(world);
  await checkFailingSince(world);
  await checkFinalStates(world);
  await checkDelays(world);
  await checkObjects(world);
  await checkFiles(world);
}

async function checkAll(world: World): Promise<void> {
  await checkAtRest(world);
  await checkEndings(world);
  await checkLeftovers(world);
  await checkRedelivered(world);
  await checkCounters(world);
  await checkEvents(world);
  await checkBodies(world);
}
