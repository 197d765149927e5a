import type { Readable } from 'node:stream';
import {
  CopyObjectCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { Clock } from '../../../infrastructure/runtime/clock.ts';
import { type Guids, isGuid } from '../../../infrastructure/runtime/guid.ts';
import { attachment } from '../disposition.ts';
import type { ByteRange, DownloadTerms, Storage, UploadTerms } from '../storage.ts';
import {
  createS3Client,
  failsTo,
  isConditionFailed,
  type S3Settings,
  undefinedWhenAbsent,
} from './client.ts';
import { listObjects, sweepMultiparts, sweepObjects } from './list.ts';
import { putObject } from './put.ts';

const UPLOADS = 'uploads/';
const FILES = 'files/';
/** The most that a store copies in one request, and also the most that it takes in one PUT. */
const MAX_COPY_BYTES = 5 * 1_073_741_824;
/** Each time somebody else changed what was about to be taken in. */
const MAX_LOOKS = 3;

/**
 * A link of the store's own writes to `uploads/<guid>`, and can be used again as long as it lives. What counts lies at
 * `files/<guid>`, where no link writes: `head` moves what came there before anybody looks at it, so that nobody can
 * replace the bytes after they were checked.
 */
export function createS3Storage({
  clock,
  guids,
  ...settings
}: S3Settings & { clock: Clock; guids: Guids }): Storage & { close(): void } {
  const client = createS3Client(settings);
  const at = (prefix: string, guid: string) => {
    if (!isGuid(guid)) throw new Error('a file is named by a guid');
    return { Bucket: settings.bucket, Key: `${prefix}${guid}` };
  };

  function look(target: { Bucket: string; Key: string }) {
    return client.send(new HeadObjectCommand(target)).catch(undefinedWhenAbsent).catch(failsTo('look'));
  }

  async function head(guid: string, looks = MAX_LOOKS): Promise<{ size: number } | undefined> {
    const stored = await look(at(FILES, guid));
    if (stored) return { size: stored.ContentLength ?? 0 };
    const uploaded = await look(at(UPLOADS, guid));
    if (!uploaded || looks === 0) return undefined;
    const size = uploaded.ContentLength ?? 0;
    if (size > MAX_COPY_BYTES) return { size };
    return (await takeIn(guid, uploaded.ETag)) ? { size } : head(guid, looks - 1);
  }

  /** Only the very bytes that were looked at, and never over what is there. */
  async function takeIn(guid: string, etag: string | undefined): Promise<boolean> {
    const source = at(UPLOADS, guid);
    const copy = new CopyObjectCommand({
      ...at(FILES, guid),
      CopySource: `${source.Bucket}/${source.Key}`,
      CopySourceIfMatch: etag,
      IfNoneMatch: '*',
    });
    try {
      await client.send(copy);
    } catch (error) {
      return isConditionFailed(error) ? false : failsTo('take in')(error);
    }
    // If it stays it is swept; the file is in.
    await client.send(new DeleteObjectCommand(source)).catch(() => {});
    return true;
  }

  async function read(guid: string, range?: ByteRange): Promise<Readable | undefined> {
    const part = range && { Range: `bytes=${range.start}-${range.end}` };
    const found = await client
      .send(new GetObjectCommand({ ...at(FILES, guid), ...part }))
      .catch(undefinedWhenAbsent)
      .catch(failsTo('read'));
    return found?.Body as Readable | undefined;
  }

  async function remove(guid: string): Promise<void> {
    for (const prefix of [UPLOADS, FILES])
      await client.send(new DeleteObjectCommand(at(prefix, guid))).catch(failsTo('remove'));
  }

  /** The signature knows whole seconds, and cuts the rest off both ends: no link outlives its terms. */
  function validity(expiresAt: Date): { signingDate: Date; expiresIn: number } {
    const signingDate = clock.now();
    return { signingDate, expiresIn: secondOf(expiresAt) - secondOf(signingDate) };
  }

  function uploadUrl({ guid, contentType, expiresAt }: UploadTerms): Promise<string> {
    const put = new PutObjectCommand({ ...at(UPLOADS, guid), ContentType: contentType });
    // The content type is not signed unless it is asked for by name.
    return getSignedUrl(client, put, {
      ...validity(expiresAt),
      signableHeaders: new Set(['content-type', 'host']),
    });
  }

  function downloadUrl({ guid, filename, contentType, expiresAt }: DownloadTerms): Promise<string> {
    const get = new GetObjectCommand({
      ...at(FILES, guid),
      ResponseContentDisposition: attachment(filename),
      ResponseContentType: contentType,
    });
    return getSignedUrl(client, get, validity(expiresAt));
  }

  async function sweepTemporary(olderThan: Date): Promise<number> {
    const Bucket = settings.bucket;
    const removed = await sweepObjects(client, { Bucket, Prefix: UPLOADS }, olderThan);
    return removed + (await sweepMultiparts(client, { Bucket, Prefix: FILES }, olderThan));
  }

  return {
    put: (guid, content, terms) =>
      putObject(client, at(FILES, guid), content, { ...terms, putGuid: guids.next() }),
    head: (guid) => head(guid),
    read,
    remove,
    uploadUrl,
    downloadUrl,
    sweepTemporary,
    // Its free space is the store's own concern.
    requireSpace: async () => {},
    listContent: (after) => listObjects(client, { Bucket: settings.bucket, Prefix: FILES }, after),
    close: () => client.destroy(),
  };
}

function secondOf(moment: Date): number {
  return Math.floor(moment.getTime() / 1_000);
}
