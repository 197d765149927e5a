import { Readable } from 'node:stream';
import type { Static } from 'typebox';
import type { Freezes } from '../credentials/organizations/freezes.ts';
import type { Actor, Audit } from '../infrastructure/audit/service.ts';
import type { Database, Transaction } from '../infrastructure/database/database.ts';
import type { Page, PageOf } from '../infrastructure/database/paging/paging.ts';
import { type RecordAnswer, recordNothing } from '../infrastructure/idempotency/record-answer.ts';
import type { Clock } from '../infrastructure/runtime/clock.ts';
import { Failure, isFailure } from '../infrastructure/runtime/failure.ts';
import type { Guids } from '../infrastructure/runtime/guid.ts';
import type { Log } from '../infrastructure/runtime/log.ts';
import type { Customers, FileReferences } from '../objects/service.ts';
import { createFileDeletion } from './deletion.ts';
import { FILE_TYPES } from './file-types.ts';
import { checkFilename } from './filename.ts';
import { decodeBase64, InvalidBase64 } from './processing/content/base64.ts';
import type { PollSchedule } from './processing/poll-schedule.ts';
import { changeOf } from './records.ts';
import type { FileWithLinks, NewFile } from './schema.ts';
import { FILE_STATES, isFileState, stateOf } from './state.ts';
import type { Deletions } from './storage/cleanup/deletions.ts';
import type { Storage } from './storage/storage.ts';
import { failureOfStorage, refusalForSpace } from './storage/storage-failure.ts';
import * as store from './store.ts';
import type { Quota } from './uploads/quota.ts';

export type Files = ReturnType<typeof createFiles>;

/** Base64 that is read piece by piece. */
type InlineData = { characters: number; pieces(): Iterable<string> };
/** With states that are not checked yet. */
type RequestedFilters = Omit<store.FileFilters, 'state'> & { state?: readonly string[] | undefined };

/** Characters of inline content (contract, section 8). */
const MAX_DATA_CHARACTERS = 10_485_760;
const MAX_INLINE_BYTES = (MAX_DATA_CHARACTERS / 4) * 3;
const UPLOAD_LIFETIME_MS = 15 * 60_000;
const DOWNLOAD_LIFETIME_MS = 5 * 60_000;
/** Content without a record is deleted after this time, far longer than a creation takes. */
const DELETE_UNRECORDED_AFTER_MS = 3_600_000;

type Deps = {
  database: Database;
  clock: Clock;
  guids: Guids;
  audit: Audit;
  log: Log;
  customers: Customers;
  references: FileReferences;
  storage: Storage;
  maxUploadBytes: number;
  quota: Quota;
  freezes: Pick<Freezes, 'check'>;
  deletions: Deletions;
  pollSchedule: PollSchedule;
  /** Called when the content of a file is stored and can be processed. */
  onUploaded(): void;
};

/** The records of files. The storage holds their content under the same guid. */
export function createFiles(deps: Deps) {
  const { database, clock, guids, audit, log, customers, storage, deletions, quota, freezes } = deps;
  const { queries } = database;

  /** Only callers that may create files get the upload URL: it is all that is needed to write the content. */
  async function withLinks(
    file: store.FileRow,
    { withUploadUrl }: { withUploadUrl: boolean },
  ): Promise<FileWithLinks> {
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
  }

  /** The content is stored before the record. Its deletion is scheduled first, in case of a crash in between. */
  async function storeInline(
    file: store.FileRow,
    content: readonly Buffer[],
    deleteAt: Date,
  ): Promise<Failure | undefined> {
    const full = await refusalForSpace(storage, log, file.pending_bytes ?? 0);
    if (full) return full;
    await deletions.schedule(queries, file.guid, deleteAt);
    const { content_type: contentType, max_bytes: maxBytes } = file;
    try {
      const result = await storage.put(file.guid, Readable.from(content), { contentType, maxBytes });
      if (result !== 'stored')
        throw new Error(`content of the new file ${file.guid} was not stored: ${result}`);
      return undefined;
    } catch (error) {
      return failureOfStorage(error, log);
    }
  }

  function pendingOf({ pending_bytes: bytes }: store.FileRow) {
    return { files: 1, bytes: bytes ?? 0 };
  }

  type Save = (transaction: Transaction) => Promise<void>;

  async function createInline(
    file: store.FileRow,
    content: readonly Buffer[],
    save: Save,
  ): Promise<Failure | undefined> {
    const deleteAt = new Date(file.created_at.getTime() + DELETE_UNRECORDED_AFTER_MS);
    // Checked again under a lock when the record is written.
    const overQuota = await quota.check(queries, file.organization_guid, pendingOf(file));
    if (overQuota) return overQuota;
    const refused = await storeInline(file, content, deleteAt);
    // A failed put may have stored the content, so its deletion stays scheduled.
    if (refused) return refused;
    return database.transaction(async (transaction) => {
      const refusal =
        (await freezes.check(file.organization_guid, transaction)) ??
        (await quota.checkLocked(transaction, file.organization_guid, pendingOf(file)));
      if (refusal) return refusal;
      if (!(await deletions.cancel(transaction, file.guid, deleteAt)))
        return new Failure('storage_unavailable', 'Storing the file took too long; send the request again');
      await save(transaction);
      return undefined;
    });
  }

  function createForUpload(file: store.FileRow, save: Save): Promise<Failure | undefined> {
    return database.transaction(async (transaction) => {
      const refusal =
        (await freezes.check(file.organization_guid, transaction)) ??
        (await quota.checkLocked(transaction, file.organization_guid, pendingOf(file)));
      if (refusal) return refusal;
      await save(transaction);
      return undefined;
    });
  }

  return {
    /** Without `data` the file waits for an upload to its upload URL. */
    async create(
      actor: Actor,
      visible: store.Visible,
      { data, ...input }: Omit<Static<typeof NewFile>, 'data'> & { data?: InlineData | undefined },
      recordAnswer: RecordAnswer<FileWithLinks> = recordNothing,
    ): Promise<FileWithLinks | Failure> {
      const misnamed = checkFilename(input.filename);
      if (misnamed) return misnamed;
      const content = data && (await decode(data));
      if (isFailure(content)) return content;
      const customer = await customers.getCustomer(visible, input.customer_guid);
      if (isFailure(customer))
        return new Failure(
          'no_customer',
          'customer_guid must be the guid of a customer that the token may access',
        );
      const now = clock.now();
      const expiresAt = new Date(now.getTime() + UPLOAD_LIFETIME_MS);
      const file: store.FileRow = {
        ...input,
        guid: guids.next(),
        organization_guid: customer.organization_guid,
        bank_guid: customer.bank_guid,
        environment: customer.environment,
        ...NEW_FILE,
        ...(content === undefined
          ? {
              max_bytes: deps.maxUploadBytes,
              upload_expires_at: expiresAt,
              next_look_at: deps.pollSchedule.firstPollAt(now, expiresAt),
            }
          : {
              ...{ max_bytes: MAX_INLINE_BYTES, uploaded_at: now, next_look_at: now },
              pending_bytes: content.reduce((bytes, piece) => bytes + piece.length, 0),
            }),
        created_at: now,
        updated_at: now,
      };
      const created = await withLinks(file, { withUploadUrl: true });
      const save = async (transaction: Transaction) => {
        await store.insertFile(transaction, file);
        await audit.record(transaction, actor, changeOf('create', file));
        await recordAnswer(transaction, created);
      };
      const refused = await (content === undefined
        ? createForUpload(file, save)
        : createInline(file, content, save));
      if (refused) return refused;
      if (content !== undefined) deps.onUploaded();
      return created;
    },

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
      const refusal =
        refuseUnknown('state', state, FILE_STATES) ?? refuseUnknown('type', filters.type, FILE_TYPES);
      if (refusal) return refusal;
      const states = state?.filter(isFileState);
      const found = await store.selectFiles(database.lists, visible, page, { ...filters, state: states });
      return { ...found, rows: await Promise.all(found.rows.map((file) => withLinks(file, options))) };
    },
  };
}

function refuseUnknown(
  filter: string,
  wanted: readonly string[] = [],
  known: readonly string[],
): Failure | undefined {
  const unknown = wanted.find((name) => !known.includes(name));
  if (unknown === undefined) return undefined;
  return new Failure('invalid_parameter', `${filter} must be one of ${known.join(', ')}; got ${unknown}`);
}

const NEW_FILE = {
  size: null,
  sha256: null,
  failure_code: null,
  upload_expires_at: null,
  uploaded_at: null,
  leased_by: null,
  upload_leased_by: null,
  upload_leased_until: null,
  pending_bytes: null,
  completed_at: null,
  failed_at: null,
};

/** Decodes everything first, so that invalid input is reported before anything is looked up or stored. */
async function decode(data: InlineData): Promise<Buffer[] | Failure> {
  if (data.characters > MAX_DATA_CHARACTERS)
    return new Failure(
      'payload_too_large',
      `data must have at most ${MAX_DATA_CHARACTERS} characters; ${USE_UPLOAD_URL}`,
    );
  try {
    return await Array.fromAsync(decodeBase64(data.pieces()));
  } catch (error) {
    if (!(error instanceof InvalidBase64)) throw error;
    return new Failure('invalid_parameter', `data ${error.message}`);
  }
}

export const USE_UPLOAD_URL = 'create the file without data and PUT the bytes to its upload_url';
