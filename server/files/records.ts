import type { Change } from '../infrastructure/audit/service.ts';
import type { FileRow } from './store.ts';

/** The audit record of a file describes it without its content or name. */
export function changeOf(verb: keyof typeof CHANGES, file: FileRow): Change {
  return {
    action: `file.${verb}`,
    organizationGuid: file.organization_guid,
    objectType: 'file',
    objectId: file.guid,
    changes: CHANGES[verb](file),
  };
}

const CHANGES = {
  create: ({ customer_guid, type, content_type }: FileRow) => ({ customer_guid, type, content_type }),
  complete: ({ size, sha256 }: FileRow) => ({ size, sha256 }),
  fail: ({ failure_code }: FileRow) => ({ failure_code }),
  /** A link to the content was issued, for a download or a preview. */
  download: ({ customer_guid, type }: FileRow) => ({ customer_guid, type }),
  delete: ({ customer_guid, type, sha256 }: FileRow) => ({
    ...{ customer_guid, type, ...(sha256 === null ? {} : { sha256 }) },
  }),
};
