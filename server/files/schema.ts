import Type, { type Static } from 'typebox';
import type { FileFailureCode } from '../infrastructure/database/tables.ts';
import { Guid, strictObject, Timestamp, viewSchema } from '../infrastructure/http/requests/schemas.ts';
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

const FileType = Type.Enum(FILE_TYPES, {
  title: 'FileType',
  description: 'The purpose of the file',
  example: 'passport',
});
const ContentType = Type.Enum([...CONTENT_TYPES], {
  title: 'FileContentType',
  description: 'The media type of the content',
  example: 'image/jpeg',
});

/** `data` has a limit of its own below that of the body. Exceeding it is 413, not 400. */
export const NewFile = strictObject(
  {
    type: FileType,
    filename: Type.String({
      minLength: 1,
      maxLength: MAX_FILENAME_CHARACTERS,
      description:
        `1 to ${MAX_FILENAME_CHARACTERS} characters, without slashes, control characters ` +
        'and characters that change the direction of text',
      example: 'passport.jpg',
    }),
    customer_guid: { ...Guid, description: 'The customer that the file belongs to' },
    content_type: ContentType,
    data: Type.Optional(
      Type.String({
        description:
          'The content in base64 with padding, at most 10,485,760 characters. Without it the response has an upload_url',
        example: '/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//',
      }),
    ),
  },
  { title: 'NewFile', example: {} },
);

export const FileView = Type.Object(
  {
    guid: Guid,
    organization_guid: Guid,
    bank_guid: Guid,
    customer_guid: Guid,
    type: FileType,
    filename: Type.String({ example: 'passport.jpg' }),
    content_type: ContentType,
    state: Type.Enum([...FILE_STATES], {
      title: 'FileState',
      description:
        'storing: waits for its content or is being checked; completed: can be used; failed: see failure_code',
    }),
    failure_code: Type.Optional(
      Type.Enum(FAILURE_CODES, { title: 'FileFailureCode', description: 'The reason of a failure' }),
    ),
    size: Type.Optional(Type.Integer({ description: 'Size in bytes', example: 245_760 })),
    sha256: Type.Optional(
      Type.String({
        pattern: '^[0-9a-f]{64}$',
        description: 'SHA-256 of the content as 64 lowercase hexadecimal characters',
        example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
      }),
    ),
    created_at: Timestamp,
    completed_at: Type.Optional(Timestamp),
    failed_at: Type.Optional(Timestamp),
    upload_url: Type.Optional(
      Type.String({
        description:
          'Send the content here with PUT and the same Content-Type, once, before upload_expires_at. Needs files:execute',
        example:
          'https://portico.example/uploads/0199e5a4c1b27d3e8f60a1b2c3d4e5f6?signature=5d41402abc4b2a76',
      }),
    ),
    upload_expires_at: Type.Optional(Timestamp),
    download_url: Type.Optional(
      Type.String({
        description: 'Of a completed file, with include_download_url=true',
        example:
          'https://portico.example/downloads/0199e5a4c1b27d3e8f60a1b2c3d4e5f6?signature=7d793037a0760186',
      }),
    ),
    download_expires_at: Type.Optional(Timestamp),
  },
  {
    title: 'File',
    example: {
      state: 'completed',
      size: 245_760,
      sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
      completed_at: '2026-11-15T12:00:01.250Z',
    },
  },
);

export const UploadedView = viewSchema('UploadedFile', { guid: Guid, state: Type.Enum(['storing']) });

type Link = { url: string; expiresAt: Date };
export type FileWithLinks = {
  file: FileRow;
  state: FileState;
  upload?: Link | undefined;
  download?: Link | undefined;
};

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
