import type { Timers } from './clock.ts';
import type { Log } from './log.ts';

type Step = readonly [name: string, run: () => Promise<unknown>];
/** Steps of one phase run concurrently; `share` is the part of the total time limit for the phase. */
export type Phase = { share: number; steps: readonly Step[] };

/**
 * Shuts down in phases within a total time limit. Every step runs even if others fail; a step that fails or times out
 * is logged. The shares of all phases add up to 1.
 */
export async function shutDown(
  phases: readonly Phase[],
  { limitMs, timers, log }: { limitMs: number; timers: Timers; log: Log },
): Promise<void> {
  for (const { share, steps } of phases) {
    const pending = new Set(steps.map(([name]) => name));
    const running = steps.map(async ([step, run]) => {
      try {
        await run();
      } catch (error) {
        log.warn({ step, reason: String(error) }, 'shutdown step failed');
      }
      pending.delete(step);
    });
    await withinTime(Promise.all(running), share * limitMs, timers);
    if (pending.size > 0) log.warn({ steps: [...pending] }, 'shutdown steps timed out');
  }
}

/** Runs the steps in order, even after one fails; then throws the first error. */
export async function runEveryStep(steps: readonly (() => unknown)[]): Promise<void> {
  const errors: unknown[] = [];
  for (const step of steps)
    try {
      await step();
    } catch (error) {
      errors.push(error);
    }
  if (errors.length > 0) throw errors[0];
}

async function withinTime(work: Promise<unknown>, ms: number, timers: Timers): Promise<void> {
  const late = Promise.withResolvers<void>();
  const cancel = timers.after(ms, late.resolve);
  await Promise.race([work, late.promise]);
  cancel();
}
