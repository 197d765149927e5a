import { Readable } from 'node:stream';
import type { Static } from 'typebox';
import type { Actor, Audit } from '../infrastructure/audit/service.ts';
import type { Database } from '../infrastructure/database/database.ts';
import type { Page, PageOf } from '../infrastructure/database/paging/paging.ts';
import type { Clock } from '../infrastructure/runtime/clock.ts';
import { Failure, isFailure } from '../infrastructure/runtime/failure.ts';
import type { Guids } from '../infrastructure/runtime/guid.ts';
import type { Log } from '../infrastructure/runtime/log.ts';
import type { Customers } from '../objects/customer-lookup.ts';
import { checkFilename } from './filename.ts';
import { decodeBase64, InvalidBase64 } from './processing/content/base64.ts';
import { deleteRemoval, insertRemoval } from './processing/queue-store.ts';
import { changeOf } from './records.ts';
import type { NewFile } from './schema.ts';
import { FILE_STATES, type FileState, stateOf } from './state.ts';
import type { Storage } from './storage/storage.ts';
import { failureOfStorage, refusalForSpace } from './storage/storage-failure.ts';
import * as store from './store.ts';
import type { Quota } from './uploads/quota.ts';

export type Files = ReturnType<typeof createFiles>;

/** Base64 that is read piece by piece. */
type InlineData = { characters: number; pieces(): Iterable<string> };
type Link = { url: string; expiresAt: Date };
/** A file with the links that it has at this moment. */
export type ShownFile = {
  file: store.FileRow;
  state: FileState;
  upload?: Link | undefined;
  download?: Link | undefined;
};
/** As they come in, before anybody has looked whether such states exist. */
type AskedFilters = Omit<store.FileFilters, 'state'> & { state?: readonly string[] | undefined };

/** Characters of inline content (contract, section 8). */
const MAX_DATA_CHARACTERS = 10_485_760;
const MAX_INLINE_BYTES = (MAX_DATA_CHARACTERS / 4) * 3;
const UPLOAD_LIFETIME_MS = 15 * 60_000;
const DOWNLOAD_LIFETIME_MS = 5 * 60_000;
/** Far longer than it takes to store inline content and to write its record. */
const INLINE_WITHIN_MS = 3_600_000;

type Deps = {
  database: Database;
  clock: Clock;
  guids: Guids;
  audit: Audit;
  log: Log;
  customers: Customers;
  storage: Storage;
  maxUploadBytes: number;
  quota: Quota;
  /** When to look for the first time whether the content has come, of one that comes by a link. */
  firstLookAt(now: Date, expiresAt: Date): Date;
  /** The content of a file is there, and has to be looked at. */
  onArrival(): void;
};

/** What partners hand in about their customers: the records. Their content is in the storage, under the same guid. */
export function createFiles(deps: Deps) {
  const { database, clock, guids, audit, log, customers, storage, maxUploadBytes, quota, onArrival } = deps;
  const { queries } = database;

  /** The upload link is for callers that may create files: it is the whole permission to write the content. */
  async function show(
    file: store.FileRow,
    { withUploadUrl }: { withUploadUrl: boolean },
  ): Promise<ShownFile> {
    const { guid, content_type: contentType, max_bytes: maxBytes, upload_expires_at: expiresAt } = file;
    const waits = file.uploaded_at === null && file.failed_at === null;
    const upload =
      withUploadUrl && waits && expiresAt !== null && clock.now() < expiresAt
        ? { url: await storage.uploadUrl({ guid, contentType, maxBytes, expiresAt }), expiresAt }
        : undefined;
    return { file, state: stateOf(file), upload };
  }

  /** Stored before there is a file that speaks of it; a crash in between leaves content that is removed in its time. */
  async function storeInline(
    file: store.FileRow,
    content: readonly Buffer[],
    removeAt: Date,
  ): Promise<Failure | undefined> {
    const full = await refusalForSpace(storage, log, file.pending_bytes ?? 0);
    if (full) return full;
    await insertRemoval(queries, file.guid, removeAt);
    const { content_type: contentType, max_bytes: maxBytes } = file;
    try {
      const result = await storage.put(file.guid, Readable.from(content), { contentType, maxBytes });
      if (result !== 'stored') throw new Error(`new content of ${file.guid} is not stored: ${result}`);
      return undefined;
    } catch (error) {
      return failureOfStorage(error, log);
    }
  }

  function pendingOf({ pending_bytes: bytes }: store.FileRow) {
    return { files: 1, bytes: bytes ?? 0 };
  }

  async function createInline(
    actor: Actor,
    file: store.FileRow,
    content: readonly Buffer[],
  ): Promise<Failure | undefined> {
    const removeAt = new Date(file.created_at.getTime() + INLINE_WITHIN_MS);
    // Once more when the record is written: several may be stored at a time.
    const overQuota = await quota.check(queries, file.organization_guid, pendingOf(file));
    if (overQuota) return overQuota;
    const refused = await storeInline(file, content, removeAt);
    // A storage that failed may have kept the content, so its removal stays scheduled.
    if (refused) return refused;
    return database.transaction(async (transaction) => {
      const exceeded = await quota.checkAlone(transaction, file.organization_guid, pendingOf(file));
      if (exceeded) return exceeded;
      if (!(await deleteRemoval(transaction, file.guid, removeAt)))
        return new Failure('storage_unavailable', 'Storing the file took too long; try again');
      await store.insertFile(transaction, file);
      await audit.record(transaction, actor, changeOf('create', file));
      return undefined;
    });
  }

  function createAwaited(actor: Actor, file: store.FileRow): Promise<Failure | undefined> {
    return database.transaction(async (transaction) => {
      const exceeded = await quota.checkAlone(transaction, file.organization_guid, pendingOf(file));
      if (exceeded) return exceeded;
      await store.insertFile(transaction, file);
      await audit.record(transaction, actor, changeOf('create', file));
      return undefined;
    });
  }

  return {
    /** With `data` its content is there at once; without, it is awaited at the upload URL. */
    async create(
      actor: Actor,
      visible: store.Visible,
      { data, ...input }: Omit<Static<typeof NewFile>, 'data'> & { data?: InlineData | undefined },
    ): Promise<ShownFile | Failure> {
      const misnamed = checkFilename(input.filename);
      if (misnamed) return misnamed;
      const content = data && (await decode(data));
      if (isFailure(content)) return content;
      const customer = await customers.get(visible, input.customer_guid);
      if (isFailure(customer))
        return new Failure('no_customer', 'customer_guid does not name a customer of yours');
      const now = clock.now();
      const expiresAt = new Date(now.getTime() + UPLOAD_LIFETIME_MS);
      const file: store.FileRow = {
        ...input,
        guid: guids.next(),
        organization_guid: customer.organization_guid,
        bank_guid: customer.bank_guid,
        environment: customer.environment,
        ...NOTHING_YET,
        ...(content === undefined
          ? {
              max_bytes: maxUploadBytes,
              upload_expires_at: expiresAt,
              next_look_at: deps.firstLookAt(now, expiresAt),
            }
          : {
              ...{ max_bytes: MAX_INLINE_BYTES, uploaded_at: now, next_look_at: now },
              pending_bytes: content.reduce((bytes, piece) => bytes + piece.length, 0),
            }),
        created_at: now,
        updated_at: now,
      };
      const refused = await (content === undefined
        ? createAwaited(actor, file)
        : createInline(actor, file, content));
      if (refused) return refused;
      if (content !== undefined) onArrival();
      return show(file, { withUploadUrl: true });
    },

    async get(
      visible: store.Visible,
      guid: string,
      { withDownloadUrl, withUploadUrl }: { withDownloadUrl: boolean; withUploadUrl: boolean },
    ): Promise<ShownFile | Failure> {
      const file = await store.selectFile(queries, visible, guid);
      if (!file) return new Failure('not_found', 'There is no such file');
      const shown = await show(file, { withUploadUrl });
      if (!withDownloadUrl || shown.state !== 'completed') return shown;
      const { filename, content_type: contentType } = file;
      const expiresAt = new Date(clock.now().getTime() + DOWNLOAD_LIFETIME_MS);
      const url = await storage.downloadUrl({ guid, filename, contentType, expiresAt });
      return { ...shown, download: { url, expiresAt } };
    },

    /** Whether all of these can be referred to: processed, and of this customer. */
    async areCompleted(
      visible: store.Visible,
      customerGuid: string,
      fileGuids: readonly string[],
    ): Promise<boolean> {
      const wanted = [...new Set(fileGuids)];
      return (await store.countCompleted(queries, visible, customerGuid, wanted)) === wanted.length;
    },

    async list(
      visible: store.Visible,
      page: Page,
      { state, ...filters }: AskedFilters,
      options: { withUploadUrl: boolean },
    ): Promise<PageOf<ShownFile> | Failure> {
      const unknown = state?.find((name) => !isFileState(name));
      if (unknown !== undefined)
        return new Failure('invalid_parameter', `state ${unknown} is not a state of files`);
      const states = state?.filter(isFileState);
      const found = await store.selectFiles(database.lists, visible, page, { ...filters, state: states });
      return { ...found, rows: await Promise.all(found.rows.map((file) => show(file, options))) };
    },
  };
}

const NOTHING_YET = {
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

/** All of it before anything is looked up or stored: what is wrong with the input is told first. */
async function decode(data: InlineData): Promise<Buffer[] | Failure> {
  if (data.characters > MAX_DATA_CHARACTERS)
    return new Failure(
      'payload_too_large',
      `data has more than ${MAX_DATA_CHARACTERS} characters; ${USE_UPLOAD_URL}`,
    );
  try {
    return await Array.fromAsync(decodeBase64(data.pieces()));
  } catch (error) {
    if (!(error instanceof InvalidBase64)) throw error;
    return new Failure('invalid_parameter', `data ${error.message}`);
  }
}

export const USE_UPLOAD_URL = 'create the file without data and PUT the bytes to its upload_url';

function isFileState(name: string): name is FileState {
  return FILE_STATES.some((state) => state === name);
}
