import { readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { type Storage, StorageError } from '../../server/files/storage/storage.ts';
import { timeOf } from '../machine/guids.ts';
import type { Random } from '../machine/random.ts';
import { enter } from '../machine/rest.ts';
import type { Owner, Scheduler } from '../machine/scheduler.ts';

const MAX_LATENCY_MS = 5;

export type SimulatedDisk = ReturnType<typeof createSimulatedDisk>;

/**
 * The folder that all nodes share: the real one, whose accesses are steps of the scheduler. Two accesses at once would
 * end in any order.
 */
export function createSimulatedDisk({
  folder,
  scheduler,
  random,
}: {
  folder: string;
  scheduler: Scheduler;
  random: Random;
}) {
  /** By the real disk's clock everything was stored just now. */
  const storedAt = new Map<string, number>();
  let failsUntil = 0;

  return {
    folder,
    storedAt: (guid: string) => storedAt.get(guid) ?? timeOf(guid),
    /** Every access fails for this long. */
    fail(ms: number): void {
      failsUntil = scheduler.now() + ms;
    },
    heal(): void {
      failsUntil = 0;
    },
    storageOf(owner: Owner, storage: Storage): Storage {
      const access = <Result>(what: string, work: () => Promise<Result>) =>
        new Promise<Result>((resolve, reject) => {
          scheduler.add(0.1 + random.next() * MAX_LATENCY_MS, {
            ...{ owner, label: `disk ${what}` },
            run() {
              if (scheduler.now() < failsUntil) return reject(new StorageError(what, 'input/output error'));
              enter(owner, () => void work().then(resolve, reject));
            },
          });
        });
      return {
        ...storage,
        put: (guid, content, terms) =>
          access('put', async () => {
            const result = await storage.put(guid, content, terms);
            if (result === 'stored') storedAt.set(guid, scheduler.now());
            return result;
          }),
        head: (guid) => access('head', () => storage.head(guid)),
        read: (guid, range) => access('read', () => storage.read(guid, range)),
        delete: (guid) => access('delete', () => storage.delete(guid)),
        sweepTemporary: (olderThan, awaitedOf) =>
          access('sweep', () => {
            for (const { path, name } of temporaryIn(folder))
              utimesSync(path, timeOf(name) / 1_000, timeOf(name) / 1_000);
            return storage.sweepTemporary(olderThan, awaitedOf);
          }),
        listContent: (after) =>
          access('list', async () => {
            const { contents, next } = await storage.listContent(after);
            const listed = contents.map(({ guid }) => ({
              ...{ guid, storedAt: new Date(storedAt.get(guid) ?? timeOf(guid)) },
            }));
            return { contents: listed, next };
          }),
      };
    },
  };
}

/** Uploads in progress, and what killed nodes have left. Their names are guids. */
export function temporaryIn(folder: string): { name: string; path: string; createdAt: number }[] {
  return namesIn(join(folder, 'temporary')).map((name) => ({
    ...{ name, path: join(folder, 'temporary', name), createdAt: timeOf(name) },
  }));
}

export function contentsIn(folder: string): { guid: string; path: string }[] {
  return namesIn(folder)
    .filter((name) => name !== 'temporary')
    .flatMap((top) => namesIn(join(folder, top)).map((inner) => join(folder, top, inner)))
    .flatMap((inner) => namesIn(inner).map((guid) => ({ guid, path: join(inner, guid) })));
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
