import { Readable } from 'node:stream';
import type { Static } from 'typebox';
import type { Freezes } from '../credentials/organizations/freezes.ts';
import type { Actor, Audit } from '../infrastructure/audit/service.ts';
import type { Database, Transaction } from '../infrastructure/database/database.ts';
import {
  type InSlot,
  inPlace,
  type RunApart,
  runInPlace,
} from '../infrastructure/http/limits/calls-in-flight.ts';
import { type RecordAnswer, recordNothing } from '../infrastructure/idempotency/record-answer.ts';
import type { Clock } from '../infrastructure/runtime/clock.ts';
import { Failure, isFailure } from '../infrastructure/runtime/failure.ts';
import type { Guids } from '../infrastructure/runtime/guid.ts';
import type { Log } from '../infrastructure/runtime/log.ts';
import type { Customers } from '../objects/service.ts';
import { checkFilename } from './filename.ts';
import { decodeBase64, InvalidBase64 } from './processing/content/base64.ts';
import type { PollSchedule } from './processing/poll-schedule.ts';
import { changeOf } from './records.ts';
import type { FileWithLinks, NewFile } from './schema.ts';
import type { Deletions } from './storage/cleanup/deletions.ts';
import type { Storage } from './storage/storage.ts';
import { failureOfStorage, refusalForSpace } from './storage/storage-failure.ts';
import * as store from './store.ts';
import type { Quota } from './uploads/quota.ts';
import type { WithLinks } from './with-links.ts';

/** Base64 that is read piece by piece. */
type InlineData = { characters: number; pieces(): Iterable<string> };
type Input = Omit<Static<typeof NewFile>, 'data'>;
type Request = {
  actor: Actor;
  visible: store.Visible;
  input: Input;
  recordAnswer: RecordAnswer<FileWithLinks>;
};

/** Characters of inline content (contract, section 8). */
const MAX_DATA_CHARACTERS = 10_485_760;
const MAX_INLINE_BYTES = (MAX_DATA_CHARACTERS / 4) * 3;
const UPLOAD_LIFETIME_MS = 15 * 60_000;
/** Content without a record is deleted after this time, far longer than a creation takes. */
const DELETE_UNRECORDED_AFTER_MS = 3_600_000;

export type CreationDeps = {
  database: Database;
  clock: Clock;
  guids: Guids;
  audit: Audit;
  log: Log;
  customers: Customers;
  storage: Storage;
  maxUploadBytes: number;
  quota: Quota;
  freezes: Pick<Freezes, 'check'>;
  deletions: Deletions;
  pollSchedule: PollSchedule;
  /** Called when the content of a file is stored and can be processed. */
  onUploaded(): void;
};

/** Creates records of files, with their content or for an upload. */
export function createFileCreation({ withLinks, ...deps }: CreationDeps & { withLinks: WithLinks }) {
  const { database, clock, guids, audit, log, customers, storage, deletions, quota, freezes } = deps;
  const { queries } = database;

  /** The content is stored before the record. Its deletion is scheduled first, in case of a crash in between. */
  async function storeInline(
    file: store.FileRow,
    content: readonly Buffer[],
    deleteAt: Date,
    inSlot: InSlot,
  ): Promise<Failure | undefined> {
    const full = await refusalForSpace(storage, log, file.pending_bytes ?? 0);
    if (full) return full;
    await inSlot(() => deletions.schedule(queries, file.guid, deleteAt));
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
    inSlot: InSlot,
  ): Promise<Failure | undefined> {
    const deleteAt = new Date(file.created_at.getTime() + DELETE_UNRECORDED_AFTER_MS);
    // Checked again under a lock when the record is written.
    const overQuota = await inSlot(() => quota.check(queries, file.organization_guid, pendingOf(file)));
    if (overQuota) return overQuota;
    const refused = await storeInline(file, content, deleteAt, inSlot);
    // A failed put may have stored the content, so its deletion stays scheduled.
    if (refused) return refused;
    const cancelDeletion = async (transaction: Transaction) => {
      if (await deletions.cancel(transaction, file.guid, deleteAt)) return undefined;
      return new Failure('storage_unavailable', 'Storing the file took too long; send the request again');
    };
    return inSlot(() => saveChecked(file, save, cancelDeletion));
  }

  function saveChecked(
    file: store.FileRow,
    save: Save,
    checkContent: (transaction: Transaction) => Promise<Failure | undefined> = async () => undefined,
  ): Promise<Failure | undefined> {
    return database.transaction(async (transaction) => {
      const refusal =
        (await freezes.check(file.organization_guid, transaction)) ??
        (await quota.checkLocked(transaction, file.organization_guid, pendingOf(file))) ??
        (await checkContent(transaction));
      if (refusal) return refusal;
      await save(transaction);
      return undefined;
    });
  }

  async function createWith(
    content: Buffer[] | undefined,
    { actor, visible, input, recordAnswer }: Request,
    inSlot: InSlot,
  ): Promise<FileWithLinks | Failure> {
    const customer = await inSlot(() => customers.getCustomer(visible, input.customer_guid));
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
      ? saveChecked(file, save)
      : createInline(file, content, save, inSlot));
    if (refused) return refused;
    if (content !== undefined) deps.onUploaded();
    return created;
  }

  return {
    /**
     * Without `data` the file waits for an upload to its upload URL. With it `runApart` keeps a slow storage from blocking
     * other calls; the base64 is decoded there too, so that few calls hold the content.
     */
    async create(
      actor: Actor,
      visible: store.Visible,
      { data, ...input }: Input & { data?: InlineData | undefined },
      recordAnswer: RecordAnswer<FileWithLinks> = recordNothing,
      runApart: RunApart = runInPlace,
    ): Promise<FileWithLinks | Failure> {
      const request = { actor, visible, input, recordAnswer };
      const misnamed = checkFilename(input.filename);
      if (misnamed) return misnamed;
      if (data === undefined) return createWith(undefined, request, inPlace);
      return runApart(async (inSlot) => {
        const content = await decode(data);
        return isFailure(content) ? content : createWith(content, request, inSlot);
      });
    },
  };
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
