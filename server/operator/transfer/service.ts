import { pipeline as connect, finished, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdCompress, createZstdDecompress } from 'node:zlib';
import type { Deletions } from '../../files/storage/cleanup/deletions.ts';
import { type Storage, StorageError } from '../../files/storage/storage.ts';
import { failureOfStorage } from '../../files/storage/storage-failure.ts';
import type { Actor } from '../../infrastructure/audit/service.ts';
import type { Partitions } from '../../infrastructure/database/partitions/partitions.ts';
import type { Timers } from '../../infrastructure/runtime/clock.ts';
import type { Encryption } from '../../infrastructure/runtime/encryption.ts';
import { Failure, isFailure } from '../../infrastructure/runtime/failure.ts';
import type { Secret } from '../../infrastructure/runtime/secret.ts';
import { createImportedContent } from './content.ts';
import { exportFrames } from './export.ts';
import { InvalidFrame, readFrames } from './frames.ts';
import type { FreezingDeps } from './freeze-steps.ts';
import { createFreezing } from './freezing.ts';
import { type Imported, importFrames } from './import.ts';
import { createReaderWatch } from './reader-watch.ts';
import { createRemoval } from './removal.ts';
import { beginSnapshot, markAsTransfer } from './rows-store.ts';
import { seal, UnreadableExport, unseal } from './sealed-stream.ts';
import { StalledSender, watchSender } from './sender-watch.ts';

export type Transfers = ReturnType<typeof createTransfers>;

type Deps = FreezingDeps & {
  encryption: Encryption;
  partitions: Partitions;
  storage: Storage;
  deletions: Deletions;
  baseUrl: string;
  timers: Timers;
};

const UNIQUE_VIOLATION = '23505';

/** Moves Organizations between installations (docs/operators/scaling.md). */
export function createTransfers(deps: Deps) {
  const { database, audit, log, revocations } = deps;
  const { freeze, unfreeze, resumeInterrupted } = createFreezing(deps);
  const { remove } = createRemoval(deps);

  /** The stream fails if the copy does, and the copy if the stream is not read. */
  function openExport(guid: string, key: Secret): Readable {
    const output = createReaderWatch(deps.timers);
    // A reader that is gone has no listener any more, and the error would end the process.
    output.on('error', () => undefined);
    const copied = database.maintain((queries) =>
      queries.transaction().execute(async (transaction) => {
        await beginSnapshot(transaction);
        await pipeline(exportFrames(transaction, deps, guid), createZstdCompress(), seal(key), output);
      }),
    );
    copied.then(
      () => log.info({ organization_guid: guid }, 'exported an Organization'),
      (error: Error) => {
        log.error({ err: error, organization_guid: guid }, 'exporting an Organization failed');
        output.destroy(error);
      },
    );
    return output;
  }

  async function insertAll(actor: Actor, source: Readable, key: Secret): Promise<Imported | Failure> {
    const content = createImportedContent(deps);
    const unsealed = unseal(key);
    const plain = createZstdDecompress();
    // Errors arrive at the reader of the last stream. The source is not part of the pipeline, which would destroy a request
    // together with the connection for its answer.
    connect(unsealed, plain, () => undefined);
    finished(source, (error) => error && unsealed.destroy(error));
    source.pipe(unsealed);
    const endWatch = watchSender(source, deps.timers, (error) => unsealed.destroy(error));
    let isImported = false;
    try {
      const { imported, revision } = await database.maintain((queries) =>
        queries.transaction().execute(async (transaction) => {
          await markAsTransfer(transaction);
          const imported = await importFrames(transaction, { ...deps, content }, readFrames(plain));
          if (isFailure(imported)) throw new Refused(imported);
          const { organization_guid: guid, rows } = imported;
          await audit.record(transaction, actor, { ...changeOf('import', guid), changes: { rows } });
          // The last statement: revocations of others wait until the commit.
          return { imported, revision: await revocations.revoke(transaction, 'freeze', guid) };
        }),
      );
      isImported = true;
      await revocations.propagate(revision);
      log.info({ organization_guid: imported.organization_guid }, 'imported an Organization');
      return imported;
    } finally {
      endWatch();
      source.unpipe(unsealed);
      plain.destroy();
      if (!isImported) await content.discard();
    }
  }

  return {
    freeze,
    unfreeze,
    resumeInterrupted,
    remove,

    /** Freezes the Organization, which stays frozen. */
    async export(actor: Actor, guid: string, key: Secret): Promise<Readable | Failure> {
      const frozen = await freeze(actor, guid);
      if (isFailure(frozen)) return frozen;
      if (frozen.removing_at !== null)
        return new Failure('state_conflict', 'The Organization is being removed and cannot be exported');
      await database.transaction((transaction) => audit.record(transaction, actor, changeOf('export', guid)));
      return openExport(guid, key);
    },

    /** All or nothing. The Organization is active when this returns. */
    async import(actor: Actor, source: Readable, key: Secret): Promise<Imported | Failure> {
      try {
        return await insertAll(actor, source, key);
      } catch (error) {
        const failure = error instanceof StorageError ? failureOfStorage(error, log) : failureOf(error);
        if (failure) return failure;
        throw error;
      }
    },
  };
}

function changeOf(verb: 'export' | 'import', guid: string) {
  const action = `organization.${verb}` as const;
  return { action, organizationGuid: guid, objectType: 'organization', objectId: guid };
}

/** Rolls the import back. */
class Refused extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

function failureOf(error: unknown): Failure | undefined {
  if (error instanceof Refused) return error.failure;
  if (error instanceof UnreadableExport) return new Failure('invalid_parameter', error.message);
  if (error instanceof InvalidFrame)
    return new Failure('invalid_parameter', `The export is not valid: ${error.message}`);
  if (error instanceof StalledSender)
    return new Failure(
      'request_timeout',
      `The file did not arrive in time: ${error.message}; import it again`,
    );
  const { code, table } = error as { code?: unknown; table?: unknown };
  if (code !== UNIQUE_VIOLATION) return undefined;
  return table === 'organizations'
    ? new Failure('state_conflict', 'The Organization exists in this installation already')
    : new Failure('state_conflict', `A row of ${table} exists in this installation already`);
}
