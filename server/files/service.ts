import type { Actor } from '../infrastructure/audit/service.ts';
import type { Page, PageOf } from '../infrastructure/database/paging/paging.ts';
import { knownValues, refuseUnknown } from '../infrastructure/http/requests/filters.ts';
import { Failure, isFailure } from '../infrastructure/runtime/failure.ts';
import type { FileReferences } from '../objects/service.ts';
import { type CreationDeps, createFileCreation } from './creation.ts';
import { createFileDeletion } from './deletion.ts';
import { FILE_TYPES } from './file-types.ts';
import { changeOf } from './records.ts';
import type { FileWithLinks } from './schema.ts';
import { FILE_STATES } from './state.ts';
import * as store from './store.ts';
import { createWithLinks } from './with-links.ts';

export type Files = ReturnType<typeof createFiles>;

/** With states that are not checked yet. */
type RequestedFilters = Omit<store.FileFilters, 'state'> & { state?: readonly string[] | undefined };

const DOWNLOAD_LIFETIME_MS = 5 * 60_000;

/** The records of files. The storage holds their content under the same guid. */
export function createFiles(deps: CreationDeps & { references: FileReferences }) {
  const { database, clock, audit, storage } = deps;
  const { queries } = database;
  const withLinks = createWithLinks(deps);

  return {
    ...createFileCreation({ ...deps, withLinks }),

    /** A link to the content is recorded: the file may be an identity document. */
    async get(
      actor: Actor,
      visible: store.Visible,
      guid: string,
      { withDownloadUrl, withUploadUrl }: { withDownloadUrl: boolean; withUploadUrl: boolean },
    ): Promise<FileWithLinks | Failure> {
      const file = await store.selectFile(queries, visible, guid);
      if (!file) return new Failure('not_found', 'There is no such file');
      const linked = await withLinks(file, { withUploadUrl });
      if (!withDownloadUrl || linked.state !== 'completed') return linked;
      const { filename, content_type: contentType, organization_guid: organizationGuid } = file;
      const expiresAt = new Date(clock.now().getTime() + DOWNLOAD_LIFETIME_MS);
      const url = await storage.downloadUrl({ guid, organizationGuid, filename, contentType, expiresAt });
      await database.transaction((transaction) =>
        audit.record(transaction, actor, changeOf('download', file)),
      );
      return { ...linked, download: { url, expiresAt } };
    },

    ...createFileDeletion(deps),

    async list(
      visible: store.Visible,
      page: Page,
      { state, ...filters }: RequestedFilters,
      options: { withUploadUrl: boolean },
    ): Promise<PageOf<FileWithLinks> | Failure> {
      const states = knownValues('state', state, FILE_STATES);
      if (isFailure(states)) return states;
      const refusal = refuseUnknown('type', filters.type, FILE_TYPES);
      if (refusal) return refusal;
      const found = await store.selectFiles(database.lists, visible, page, { ...filters, state: states });
      return { ...found, rows: await Promise.all(found.rows.map((file) => withLinks(file, options))) };
    },
  };
}
