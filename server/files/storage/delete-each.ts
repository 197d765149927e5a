import { StorageError } from './storage.ts';

const MAX_DELETED_PER_SWEEP = 1_000;
/** Of one sweep. An unreachable store needs many seconds to fail, and other tasks wait for the sweep. */
export const MAX_FAILURES = 10;

/**
 * Deletes what can be deleted and returns its number. Throws the first error only at the end, so that one item that cannot be
 * deleted keeps no other. `deleteOne` returns false for an item that is kept.
 */
export async function deleteEach<Item>(
  items: Iterable<Item>,
  deleteOne: (item: Item) => Promise<boolean>,
): Promise<number> {
  let deleted = 0;
  const errors: unknown[] = [];
  for (const item of items) {
    if (deleted === MAX_DELETED_PER_SWEEP || errors.length === MAX_FAILURES) break;
    try {
      if (await deleteOne(item)) deleted += 1;
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0)
    throw new StorageError(`delete ${errors.length} of the unfinished uploads`, errors[0]);
  return deleted;
}
