import { setTimeout as delay } from 'node:timers/promises';
import type { Context } from './command.ts';
import { describeError, isPassing } from './failure.ts';
import { say } from './output/print.ts';

const MAX_PAUSE_MS = 10_000;

/** Repeats a step until it returns true or the command is interrupted; goes on after failures that pass. */
export async function poll(
  context: Context,
  everyMs: number,
  step: () => Promise<boolean | undefined>,
): Promise<void> {
  const { signal } = context.io;
  let failures = 0;
  while (!signal.aborted) {
    try {
      if (await step()) return;
      if (failures > 0) say(context, 'Connected again.');
      failures = 0;
    } catch (error) {
      signal.throwIfAborted();
      if (!isPassing(error)) throw error;
      if (failures === 0) say(context, `Interrupted (${describeError(error).message}); trying again …`);
      failures += 1;
    }
    await delay(Math.min(MAX_PAUSE_MS, everyMs * 2 ** failures), undefined, { signal });
  }
  signal.throwIfAborted();
}

/** Bounds what a command that goes on remembers. */
export function forgetOldest(remembered: Set<unknown> | Map<unknown, unknown>, max: number): void {
  for (const key of remembered.keys()) {
    if (remembered.size <= max) return;
    remembered.delete(key);
  }
}

/** For commands that go on until Ctrl-C, which is their regular end. */
export async function untilInterrupted({ io }: Context, work: () => Promise<void>): Promise<void> {
  await work().catch((error) => {
    if (!io.signal.aborted) throw error;
  });
}
