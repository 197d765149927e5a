import type { PostgresPool, PostgresPoolClient } from 'kysely';
import type { Timers } from '../../runtime/clock.ts';
import { PoolFull } from '../failures.ts';

/**
 * Queries that may wait for a share. More than for a pool: a flood of logins must not reject users who have a session,
 * and each of these queries reads a few rows by key.
 */
export const MAX_WAITING_FOR_SHARE = 500;

/**
 * Uses at most `connections` of the pool at once. Further queries wait in order for up to `maxWaitMs`, without holding
 * a connection.
 */
export function shareOfPool(
  pool: PostgresPool,
  { connections, maxWaitMs, timers }: { connections: number; maxWaitMs: number; timers: Timers },
): PostgresPool {
  const waiting = new Set<() => void>();
  let used = 0;

  async function take(): Promise<void> {
    if (used < connections) {
      used += 1;
      return;
    }
    if (waiting.size >= MAX_WAITING_FOR_SHARE)
      throw new PoolFull('too many queries are waiting for a share of the connections');
    await new Promise<void>((resolve, reject) => {
      const cancel = timers.after(maxWaitMs, () => {
        waiting.delete(start);
        reject(new PoolFull('timeout exceeded when waiting for a share of the connections'));
      });
      const start = () => {
        cancel();
        waiting.delete(start);
        resolve();
      };
      waiting.add(start);
    });
  }

  function giveBack(): void {
    const [next] = waiting;
    if (next) next();
    else used -= 1;
  }

  return {
    options: pool.options,
    async connect() {
      await take();
      try {
        const client = await pool.connect();
        return {
          query: client.query.bind(client) as PostgresPoolClient['query'],
          release(...args) {
            client.release(...args);
            giveBack();
          },
        };
      } catch (error) {
        giveBack();
        throw error;
      }
    },
    end: async () => {},
  };
}
