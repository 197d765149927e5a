import { isDeepStrictEqual } from 'node:util';
import { setBounded } from '../runtime/bounded-map.ts';
import { type Clock, hasPassed } from '../runtime/clock.ts';
import type { Transaction } from './database.ts';

/** A value that has changed is read by every transaction for this long: what alternates would fail many of them. */
const READ_AFTER_CHANGE_MS = 10_000;

type Options<Value> = {
  clock: Clock;
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
export function createRemembered<Value>({ clock, read, check, maxRemembered }: Options<Value>) {
  const memory = new Map<string, Value>();
  const changedAt = new Map<string, number>();

  function recall(keys: readonly string[]): ReadonlyMap<string, Value> | undefined {
    const now = clock.now().getTime();
    const known = new Map<string, Value>();
    for (const key of keys) {
      const value = memory.get(key);
      if (value === undefined || !hasPassed(READ_AFTER_CHANGE_MS, changedAt.get(key) ?? -Infinity, now))
        return undefined;
      known.set(key, value);
    }
    return known;
  }

  function remember(key: string, value: Value): void {
    const before = memory.get(key);
    if (before !== undefined && !isDeepStrictEqual(before, value))
      setBounded(changedAt, key, clock.now().getTime(), maxRemembered);
    setBounded(memory, key, value, maxRemembered);
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
    for (const [key, value] of values) remember(key, value);
    return values;
  };
}
