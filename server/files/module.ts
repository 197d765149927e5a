import { join } from 'node:path';
import type { Alerts } from '../alerts/service.ts';
import type { Freezes } from '../credentials/organizations/freezes.ts';
import type { Base } from '../infrastructure/base.ts';
import type { CompleteConfig } from '../infrastructure/config/generated-secrets.ts';
import type { Timers } from '../infrastructure/runtime/clock.ts';
import type { Encryption } from '../infrastructure/runtime/encryption.ts';
import type { Customers, FileReferences } from '../objects/service.ts';
import { createScanner } from './processing/content/scan.ts';
import { createInspection } from './processing/inspection.ts';
import { folderPollSchedule, storePollSchedule } from './processing/poll-schedule.ts';
import { createProcessing } from './processing/processing.ts';
import { watchWaitingFiles } from './processing/queue-metrics.ts';
import { createFiles } from './service.ts';
import { createDeletions } from './storage/cleanup/deletions.ts';
import { createOrphans } from './storage/cleanup/orphans.ts';
import { createFolderStorage } from './storage/folder/folder.ts';
import { createLinks } from './storage/folder/links.ts';
import type { S3Settings } from './storage/s3/client.ts';
import type { Storage } from './storage/storage.ts';
import { createQuota } from './uploads/quota.ts';
import { createUploads } from './uploads/uploads.ts';

export type FilesModule = Awaited<ReturnType<typeof createFilesModule>>;

type Deps = Base & {
  alerts: Alerts;
  config: CompleteConfig;
  timers: Timers;
  encryption: Encryption;
  customers: Customers;
  references: FileReferences;
  freezes: Freezes;
  wrapStorage?: ((storage: Storage) => Storage) | undefined;
};

/** In the data directory. */
const FOLDER = 'files';

/** Wires the records, the storage, uploads and processing of files. */
export async function createFilesModule(deps: Deps) {
  const { config, timers, database, clock, metrics } = deps;
  const { storage: chosen, links, pollSchedule, close } = await chooseStorage(deps);
  const storage = deps.wrapStorage?.(chosen) ?? chosen;
  const scanner = config.clamd === undefined ? undefined : createScanner({ clamd: config.clamd, timers });
  const inspect = createInspection({ storage, scanner });
  const deletions = createDeletions({ ...deps, storage });
  const processing = createProcessing({ ...deps, storage, pollSchedule, deletions, inspect });
  const orphans = createOrphans({ ...deps, storage });
  const quota = createQuota({ clock, maxFiles: config.maxPendingFiles, maxBytes: config.maxPendingBytes });
  const onUploaded = processing.wake;
  const files = createFiles({
    ...deps,
    ...{ storage, deletions, quota, onUploaded, pollSchedule, maxUploadBytes: config.maxUploadBytes },
  });
  watchWaitingFiles({ metrics, clock, queries: database.queries });
  return {
    files,
    storage,
    deletions,
    fileProcessing: processing,
    /** For folder storage; an S3 store serves its own pre-signed URLs. */
    direct: links && { links, uploads: createUploads({ ...deps, storage, quota, onUploaded }) },
    sweepDeletions: deletions.sweep,
    sweepUnfinishedUploads: deletions.sweepUnfinishedUploads,
    sweepOrphans: orphans.sweep,
    async stop(): Promise<void> {
      await processing.stop().finally(close);
    },
  };
}

async function chooseStorage({ config, encryption, clock, guids }: Deps) {
  const s3 = s3SettingsOf(config);
  if (s3) {
    // Imported only when used: the SDK is about a tenth of what a start loads.
    const { createS3Storage } = await import('./storage/s3/s3.ts');
    const storage = createS3Storage({ ...s3, clock, guids });
    return { storage, pollSchedule: storePollSchedule, close: storage.close };
  }
  const links = createLinks({ uploadUrl: config.uploadUrl, encryption, clock });
  const folder = join(config.dataDir, FOLDER);
  const storage = createFolderStorage({ folder, links, guids, minFreeBytes: config.minFreeDiskBytes });
  return { storage, links, pollSchedule: folderPollSchedule };
}

/** The configuration ensures that all S3 settings are given or none. */
function s3SettingsOf(config: CompleteConfig): S3Settings | undefined {
  const { s3Endpoint: endpoint, s3Region: region, s3Bucket: bucket } = config;
  const { s3AccessKeyId: accessKeyId, s3SecretAccessKey: secretAccessKey } = config;
  if (endpoint === undefined || bucket === undefined || accessKeyId === undefined || !secretAccessKey)
    return undefined;
  return { endpoint, region, bucket, accessKeyId, secretAccessKey };
}
