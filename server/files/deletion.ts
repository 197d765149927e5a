import type { Actor, Audit } from '../infrastructure/audit/service.ts';
import type { Database } from '../infrastructure/database/database.ts';
import type { Clock } from '../infrastructure/runtime/clock.ts';
import { Failure, isFailure } from '../infrastructure/runtime/failure.ts';
import type { FileReferences, ReferencedFiles } from '../objects/service.ts';
import { changeOf } from './records.ts';
import type { Deletions } from './storage/cleanup/deletions.ts';
import * as store from './store.ts';

type Deps = {
  database: Database;
  clock: Clock;
  audit: Audit;
  references: FileReferences;
  deletions: Deletions;
};

/**
 * Deletions of files by partners. An object that refers to a file locks its row first, and a deletion looks for
 * references under the lock, so that neither misses the other.
 */
export function createFileDeletion({ database, clock, audit, references, deletions }: Deps) {
  const locks: ReferencedFiles = {
    async lockCompleted(transaction, visible, customerGuid, guids) {
      const wanted = [...new Set(guids)];
      const found = await store.lockReferenced(transaction, visible, wanted);
      const usable = found.filter(
        ({ customer_guid: owner, completed_at: at }) => owner === customerGuid && at !== null,
      );
      return usable.length === wanted.length;
    },

    async lockExisting(transaction, organizationGuid, guids) {
      await store.lockReferenced(transaction, { organizationGuid }, guids);
    },
  };

  return {
    ...locks,

    /** The content is deleted at once, or by the sweep of deletions if the storage is unavailable. */
    async remove(actor: Actor, visible: store.Visible, guid: string): Promise<Failure | undefined> {
      const now = clock.now();
      const removed = await database.transaction(async (transaction) => {
        const file = await store.lockFile(transaction, visible, guid);
        if (!file) return new Failure('not_found', 'There is no such file');
        const tenant = { organizationGuid: file.organization_guid, environment: file.environment };
        if (await references.refersToFile(transaction, tenant, guid))
          return new Failure(
            'file_in_use',
            `An identity verification refers to this file; GET /api/identity_verifications?file_guid=${guid} lists it`,
          );
        await store.deleteFile(transaction, file);
        // The deletion of the content of a failed file was scheduled when it failed.
        if (file.failed_at === null) await deletions.schedule(transaction, guid, now);
        await audit.record(transaction, actor, changeOf('delete', file));
        return file;
      });
      if (isFailure(removed)) return removed;
      if (removed.failed_at === null) await deletions.deleteNow(guid, now);
      return undefined;
    },
  };
}
