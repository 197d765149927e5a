import { setBounded } from '../runtime/bounded-map.ts';
import type { Transaction } from './database.ts';

type Options<Value> = {
  read(transaction: Transaction, keys: readonly string[]): Promise<ReadonlyMap<string, Value>>;
  /** A pipelined statement with `require_unchanged`. */
  check(transaction: Transaction, remembered: ReadonlyMap<string, Value>): Promise<void>;
  maxRemembered: number;
};

/**
 * Values that an earlier transaction has read, used again without a round trip. The database checks that they are
 * unchanged, so they are as current as if this transaction had read them. If they have changed, the transaction is rolled
 * back (`wasRolledBack`), and its caller repeats it with `fresh` values.
 */
export function createRemembered<Value>({ read, check, maxRemembered }: Options<Value>) {
  const memory = new Map<string, Value>();

  function recall(keys: readonly string[]): ReadonlyMap<string, Value> | undefined {
    const known = new Map<string, Value>();
    for (const key of keys) {
      const value = memory.get(key);
      if (value === undefined) return undefined;
      known.set(key, value);
    }
    return known;
  }

  return async (
    transaction: Transaction,
    keys: readonly string[],
    { fresh }: { fresh: boolean },
  ): Promise<ReadonlyMap<string, Value>> => {
    if (keys.length === 0) return new Map();
    const known = fresh ? undefined : recall(keys);
    if (known) {
      await check(transaction, known);
      return known;
    }
    const values = await read(transaction, keys);
    for (const [key, value] of values) setBounded(memory, key, value, maxRemembered);
    return values;
  };
}
