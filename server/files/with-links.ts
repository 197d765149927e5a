import type { Clock } from '../infrastructure/runtime/clock.ts';
import type { FileWithLinks } from './schema.ts';
import { stateOf } from './state.ts';
import type { Storage } from './storage/storage.ts';
import type { FileRow } from './store.ts';

export type WithLinks = ReturnType<typeof createWithLinks>;

/** Only callers that may create files get the upload URL: it is all that is needed to write the content. */
export function createWithLinks({ storage, clock }: { storage: Storage; clock: Clock }) {
  return async (file: FileRow, { withUploadUrl }: { withUploadUrl: boolean }): Promise<FileWithLinks> => {
    const { guid, content_type: contentType, max_bytes: maxBytes, upload_expires_at: expiresAt } = file;
    const organizationGuid = file.organization_guid;
    const isAwaited = file.uploaded_at === null && file.failed_at === null;
    const upload =
      withUploadUrl && isAwaited && expiresAt !== null && clock.now() < expiresAt
        ? {
            url: await storage.uploadUrl({ guid, organizationGuid, contentType, maxBytes, expiresAt }),
            expiresAt,
          }
        : undefined;
    return { file, state: stateOf(file), upload };
  };
}
