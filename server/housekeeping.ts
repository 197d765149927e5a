import type { Log } from './runtime/log.ts';

/**
 * Small chores that keep tables and memory bounded. Each is idempotent, so it does not
 * matter which node does it, how often, or that two do it at once; a missed round is made up by the next.
 */
export type Chore = { name: string; run(): Promise<unknown> };

const ROUND_EVERY_MS = 60_000;

export function createHousekeeping({ chores, log }: { chores: readonly Chore[]; log: Log }) {
  let timer: NodeJS.Timeout | undefined;
  let round: Promise<void> | undefined;

  async function runOnce(): Promise<void> {
    for (const chore of chores) {
      try {
        await chore.run();
      } catch (error) {
        log.warn({ err: error, chore: chore.name }, 'a chore failed; the next round tries again');
      }
    }
  }

  return {
    runOnce,
    start(): void {
      timer = setInterval(() => {
        // A round that takes longer than its turn is not followed by the ones that it held up.
        round ??= runOnce().finally(() => {
          round = undefined;
        });
      }, ROUND_EVERY_MS);
    },
    async stop(): Promise<void> {
      clearInterval(timer);
      await round;
    },
  };
}
