import type { Random } from './random.ts';
import type { Trace } from './trace.ts';

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
  /** A timer that was set for so long may fire late when time jumps. */
  lengthMs: number;
  isCancelled: boolean;
  run(): void | Promise<void>;
};

export type Scheduler = ReturnType<typeof createScheduler>;

/** A timer of at least this length belongs to a poll or a retry, whose lateness loses nothing. */
export const LONG_TIMER_MS = 900;

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
    { kind = 'work', ...step }: Pick<Step, 'owner' | 'label' | 'run'> & { kind?: Kind },
  ): () => void {
    order += 1;
    const added: Step = {
      ...step,
      ...{ kind, at: now + inMs, lengthMs: inMs, isCancelled: false },
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
      push({ ...next, at: next.owner.frozenUntil });
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
    /** The end of the last jump: what was due before could not be done before. */
    jumpedAt: () => jumpedAt,
    /** Nothing is on its way. */
    isIdle: () => works === 0 || !heap.some((each) => each.kind === 'work' && !isVoid(each)),
    nextAt: () => peek()?.at,
    /** The earliest step that a jump must not skip. */
    nextBindingAt(): number {
      let earliest = Number.POSITIVE_INFINITY;
      for (const each of heap)
        if (each.at < earliest && !isVoid(each) && !(each.kind === 'timer' && each.lengthMs >= LONG_TIMER_MS))
          earliest = each.at;
      return earliest;
    },
    /**
     * Moves time ahead. Timers that became due fire late, each within its own length, as if the phases of all periodic
     * timers were random.
     */
    jump(to: number, phases: Random, maxPhaseMs = Number.POSITIVE_INFINITY): void {
      if (to <= now) return;
      const longest = Math.min(maxPhaseMs, to - now);
      now = to;
      jumpedAt = to;
      const steps = heap.filter((each) => !isVoid(each));
      heap.length = 0;
      for (const each of steps)
        push(
          each.at < to
            ? Object.assign(each, { at: to + phases.next() * Math.min(each.lengthMs, longest) })
            : each,
        );
      works = heap.filter(({ kind }) => kind === 'work').length;
    },
  };
}
