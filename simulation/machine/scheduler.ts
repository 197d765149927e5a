import type { Random } from './random.ts';
import { checksum, type Trace } from './trace.ts';

/** A process of the simulated system, or one life of it: a restarted node is another owner. */
export type Owner = {
  readonly name: string;
  isDead: boolean;
  /** Virtual time until which its steps are held. */
  frozenUntil: number;
};

/** `work` is on its way now; a jump may not pass a `fixed` time; a `timer` may fire late. */
type Kind = 'work' | 'timer' | 'fixed';

export type Step = {
  at: number;
  order: number;
  kind: Kind;
  owner: Owner | undefined;
  /** For the trace; undefined for steps that write their own line. */
  label: string | undefined;
  lengthMs: number;
  /** `at` is later when its owner is frozen. */
  dueAt: number;
  /** A jump has passed its time; the next one may not. */
  isLate: boolean;
  isCancelled: boolean;
  run(): void | Promise<void>;
};

export type Scheduler = ReturnType<typeof createScheduler>;

/** A timer of at least this length belongs to a poll or a retry, whose lateness loses nothing. */
const LONG_TIMER_MS = 900;
/** A timer of at least this length belongs to a task that several jumps may pass. */
const TASK_TIMER_MS = 30_000;
/** Jumps up to this length make timers late, but leases stay valid. */
export const SHORT_JUMP_MS = 4_500;
/** After a jump, late timers fire within this time. */
const LATE_MS = 400;

/**
 * Holds every statement, answer, message and timer of all nodes and runs them one at a time, in the order of their
 * virtual times. The seed draws those times, so it decides the order. After each step everything comes to rest before
 * the next is chosen.
 */
export function createScheduler({
  startAt,
  random,
  trace,
  rest,
}: {
  startAt: number;
  random: Random;
  trace: Trace;
  /** Resolves when no code of the process can run before the next step. */
  rest(): Promise<void>;
}) {
  const heap: Step[] = [];
  let now = startAt;
  let order = 0;
  let works = 0;
  let steps = 0;
  let jumpedAt = 0;

  const isBefore = (one: Step, other: Step) =>
    one.at < other.at || (one.at === other.at && one.order < other.order);

  function push(step: Step): void {
    heap.push(step);
    for (let index = heap.length - 1; index > 0; ) {
      const parent = (index - 1) >> 1;
      if (!isBefore(step, heap[parent] as Step)) break;
      heap[index] = heap[parent] as Step;
      heap[parent] = step;
      index = parent;
    }
  }

  function pop(): Step | undefined {
    const first = heap[0];
    const last = heap.pop();
    if (!first || !last || first === last) return first;
    heap[0] = last;
    for (let index = 0; ; ) {
      const left = 2 * index + 1;
      if (left >= heap.length) break;
      const right = left + 1;
      const child = right < heap.length && isBefore(heap[right] as Step, heap[left] as Step) ? right : left;
      if (!isBefore(heap[child] as Step, last)) break;
      heap[index] = heap[child] as Step;
      heap[child] = last;
      index = child;
    }
    return first;
  }

  const isVoid = (step: Step) => step.isCancelled || step.owner?.isDead === true;
  const isSuspended = (step: Step) => (step.owner?.frozenUntil ?? 0) > now;

  function peek(): Step | undefined {
    for (let step = heap[0]; step && isVoid(step); step = heap[0]) forget(pop());
    return heap[0];
  }

  function forget(step: Step | undefined): void {
    if (step?.kind === 'work') works -= 1;
  }

  /** `inMs` from now; steps of the same time run in an order that the seed draws. */
  function add(
    inMs: number,
    { kind = 'work', owner, label, run }: Pick<Step, 'owner' | 'label' | 'run'> & { kind?: Kind },
  ): () => void {
    order += 1;
    const added: Step = {
      owner,
      label,
      run,
      kind,
      at: now + inMs,
      dueAt: now + inMs,
      lengthMs: inMs,
      isCancelled: false,
      isLate: false,
      order: random.next() * 1e9 + order / 1e9,
    };
    if (kind === 'work') works += 1;
    push(added);
    return () => {
      added.isCancelled = true;
    };
  }

  async function step(): Promise<boolean> {
    const next = peek();
    if (!next) return false;
    pop();
    if (next.owner && next.owner.frozenUntil > Math.max(now, next.at)) {
      push(Object.assign(next, { at: next.owner.frozenUntil }));
      return true;
    }
    forget(next);
    now = Math.max(now, next.at);
    steps += 1;
    if (next.label !== undefined) trace.add(now, next.owner?.name ?? '', next.label);
    await next.run();
    await rest();
    return true;
  }

  return {
    now: () => now,
    add,
    step,
    rest,
    steps: () => steps,
    /** The end of the last long jump: what was due before could not be done before. */
    jumpedAt: () => jumpedAt,
    /** Nothing is on its way, except to suspended hosts, which get it when they go on. */
    isIdle: () =>
      works === 0 || !heap.some((each) => each.kind === 'work' && !isVoid(each) && !isSuspended(each)),
    nextAt: () => peek()?.at,
    /** The earliest step that a jump must not skip. */
    nextBindingAt(): number {
      let earliest = Number.POSITIVE_INFINITY;
      for (const each of heap) {
        const at = Math.max(each.at, each.owner?.frozenUntil ?? 0);
        if (
          at < earliest &&
          !isVoid(each) &&
          !(each.kind === 'timer' && !each.isLate && each.lengthMs >= LONG_TIMER_MS)
        )
          earliest = at;
      }
      return earliest;
    },
    /** The next entry of the agenda, or the end of a fault. */
    nextFixedAt: () =>
      Math.min(...heap.filter(({ kind, owner }) => kind === 'fixed' && !owner).map(({ at }) => at)),
    /**
     * Moves time ahead, as if all hosts had been suspended. Timers that became due fire soon after, in an order that the
     * seed draws; those of tasks only if `withTasks`, or else at a random phase.
     */
    jump(to: number, phases: Random, withTasks: boolean): void {
      if (to <= now) return;
      const steps = heap.filter((each) => !isVoid(each)).sort((one, other) => one.order - other.order);
      const state = steps.map(
        ({ owner, lengthMs, dueAt, order: nth }) => `${owner?.name} ${lengthMs} ${dueAt} ${nth}`,
      );
      trace.add(now, '', `jump over ${steps.length} steps ${checksum(state.join())}`);
      if (to - now > SHORT_JUMP_MS) jumpedAt = to;
      now = to;
      heap.length = 0;
      for (const each of steps) {
        if (each.dueAt < to) {
          each.isLate = withTasks || each.lengthMs < TASK_TIMER_MS;
          each.dueAt = to + phases.next() * (each.isLate ? LATE_MS : each.lengthMs);
          each.at = each.dueAt;
        }
        push(each);
      }
      works = heap.filter(({ kind }) => kind === 'work').length;
    },
  };
}
