import Type, { type Static } from 'typebox';
import type { FileFailureCode } from '../infrastructure/database/tables.ts';
import { Guid, strictObject, Timestamp } from '../infrastructure/http/requests/schemas.ts';
import { CONTENT_TYPES, FILE_TYPES } from './file-types.ts';
import { FILE_STATES, type FileState } from './state.ts';
import type { FileRow } from './store.ts';

const MAX_FILENAME_CHARACTERS = 128;

const FAILURE_CODES: FileFailureCode[] = [
  'upload_expired',
  'content_type_mismatch',
  'infected',
  'empty',
  'too_large',
];

const FileType = Type.Enum(FILE_TYPES, { description: 'what the file can be used for' });
const ContentType = Type.Enum([...CONTENT_TYPES], { description: 'the media type of its bytes' });

/** `data` is bounded by the body's limit and then by its own, which is told apart: 413, not 400. */
export const NewFile = strictObject({
  type: FileType,
  filename: Type.String({
    minLength: 1,
    maxLength: MAX_FILENAME_CHARACTERS,
    description: 'without slashes, control characters and marks that change the direction of text',
  }),
  customer_guid: { ...Guid, description: 'the customer it belongs to' },
  content_type: ContentType,
  data: Type.Optional(
    Type.String({
      description:
        'the content in strict base64, at most 10,485,760 characters; leave it out to get an upload_url',
    }),
  ),
});

export const FileView = Type.Object({
  guid: Guid,
  organization_guid: Guid,
  bank_guid: Guid,
  customer_guid: Guid,
  type: FileType,
  filename: Type.String(),
  content_type: ContentType,
  state: Type.Enum([...FILE_STATES], {
    description: 'storing: its content is awaited or looked at; completed: it can be used',
  }),
  failure_code: Type.Optional(Type.Enum(FAILURE_CODES, { description: 'why it failed' })),
  size: Type.Optional(Type.Integer({ description: 'bytes' })),
  sha256: Type.Optional(Type.String({ pattern: '^[0-9a-f]{64}$' })),
  created_at: Timestamp,
  completed_at: Type.Optional(Timestamp),
  failed_at: Type.Optional(Timestamp),
  upload_url: Type.Optional(
    Type.String({
      description:
        'PUT the bytes here, with the same Content-Type; once, until upload_expires_at; only for files:execute',
    }),
  ),
  upload_expires_at: Type.Optional(Timestamp),
  download_url: Type.Optional(
    Type.String({ description: 'only of a completed file, and only when asked for' }),
  ),
  download_expires_at: Type.Optional(Timestamp),
});

export const UploadedView = Type.Object({ guid: Guid, state: Type.Enum(['storing']) });

export function viewFile({ file, state, upload, download }: FileWithLinks): Static<typeof FileView> {
  const { size, sha256, failure_code, completed_at: completedAt, failed_at: failedAt } = file;
  return {
    guid: file.guid,
    organization_guid: file.organization_guid,
    bank_guid: file.bank_guid,
    customer_guid: file.customer_guid,
    type: file.type,
    filename: file.filename,
    content_type: file.content_type as Static<typeof ContentType>,
    state,
    ...(failure_code === null ? {} : { failure_code }),
    ...(size === null ? {} : { size }),
    ...(sha256 === null ? {} : { sha256 }),
    created_at: file.created_at.toISOString(),
    ...(completedAt === null ? {} : { completed_at: completedAt.toISOString() }),
    ...(failedAt === null ? {} : { failed_at: failedAt.toISOString() }),
    ...(upload ? { upload_url: upload.url, upload_expires_at: upload.expiresAt.toISOString() } : {}),
    ...(download
      ? { download_url: download.url, download_expires_at: download.expiresAt.toISOString() }
      : {}),
  };
}

export type FileWithLinks = {
  file: FileRow;
  state: FileState;
  upload?: Link | undefined;
  download?: Link | undefined;
};
type Link = { url: string; expiresAt: Date };
