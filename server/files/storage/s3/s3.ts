import type { Readable } from 'node:stream';
import {
  CopyObjectCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { type Clock, later } from '../../../infrastructure/runtime/clock.ts';
import { type Guids, isGuid } from '../../../infrastructure/runtime/guid.ts';
import { attachment } from '../disposition.ts';
import {
  type AwaitedFiles,
  type ByteRange,
  type DownloadTerms,
  failsTo,
  type Storage,
  type UploadTerms,
} from '../storage.ts';
import { createS3Client, isConditionFailed, type S3Settings, undefinedWhenAbsent } from './client.ts';
import { abortUnfinished, listObjects, sweepObjects } from './list.ts';
import { putObject } from './put.ts';

const UPLOADS = 'uploads/';
const FILES = 'files/';
/** The largest object that S3 copies in one request, and the largest upload by a URL. */
const MAX_COPY_BYTES = 5 * 1_073_741_824;
/** Of one multipart upload. The import of a large file over a slow link may need days. */
const LONGEST_PUT_MS = 14 * 24 * 3_600_000;
/** Another PUT to the same link can replace the upload while it is copied. */
const MAX_COPY_ATTEMPTS = 3;

/**
 * Pre-signed upload URLs write to `uploads/<guid>` and work repeatedly until they expire. `head` moves the upload to
 * `files/<guid>`, where no URL writes, so that the content cannot be replaced after it was inspected.
 */
export function createS3Storage({
  clock,
  guids,
  ...settings
}: S3Settings & { clock: Clock; guids: Guids }): Storage & { close(): void } {
  const client = createS3Client(settings);
  const at = (prefix: string, guid: string) => {
    if (!isGuid(guid)) throw new Error('the name of a file must be a guid');
    return { Bucket: settings.bucket, Key: `${prefix}${guid}` };
  };

  const location = (prefix: string) => ({ Bucket: settings.bucket, Prefix: prefix });

  function headObject(target: { Bucket: string; Key: string }) {
    return client.send(new HeadObjectCommand(target)).catch(undefinedWhenAbsent).catch(failsTo('head'));
  }

  async function head(guid: string, attempts = MAX_COPY_ATTEMPTS): Promise<{ size: number } | undefined> {
    const stored = await headObject(at(FILES, guid));
    if (stored) return { size: stored.ContentLength ?? 0 };
    const uploaded = await headObject(at(UPLOADS, guid));
    if (!uploaded || attempts === 0) return undefined;
    const size = uploaded.ContentLength ?? 0;
    if (size > MAX_COPY_BYTES) return { size };
    return (await acceptUpload(guid, uploaded.ETag)) ? { size } : head(guid, attempts - 1);
  }

  /** Copies exactly the version that `head` saw, and never replaces an accepted file. */
  async function acceptUpload(guid: string, etag: string | undefined): Promise<boolean> {
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
      return isConditionFailed(error) ? false : failsTo('copy')(error);
    }
    // A failed deletion is left to the sweep.
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

  async function deleteContent(guid: string): Promise<void> {
    for (const prefix of [UPLOADS, FILES])
      await client.send(new DeleteObjectCommand(at(prefix, guid))).catch(failsTo('delete'));
  }

  async function sweepTemporary(olderThan: Date, awaitedOf: AwaitedFiles): Promise<number> {
    const uploads = await sweepObjects(client, location(UPLOADS), { olderThan, awaitedOf });
    return uploads + (await abortUnfinished(client, location(FILES), later(clock.now(), -LONGEST_PUT_MS)));
  }

  /** Signatures have whole seconds. Both ends are rounded down, so that no URL outlives `expiresAt`. */
  function validity(expiresAt: Date): { signingDate: Date; expiresIn: number } {
    const signingDate = clock.now();
    return { signingDate, expiresIn: secondOf(expiresAt) - secondOf(signingDate) };
  }

  function uploadUrl({ guid, contentType, expiresAt }: UploadTerms): Promise<string> {
    const put = new PutObjectCommand({ ...at(UPLOADS, guid), ContentType: contentType });
    // The SDK signs the content type only when it is named here.
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

  return {
    put: (guid, content, terms) =>
      putObject(client, at(FILES, guid), content, { ...terms, putGuid: guids.next() }),
    head: (guid) => head(guid),
    read,
    delete: deleteContent,
    uploadUrl,
    downloadUrl,
    sweepTemporary,
    // An S3 store manages its own free space.
    requireSpace: async () => {},
    listContent: (after) => listObjects(client, location(FILES), after),
    close: () => client.destroy(),
  };
}

function secondOf(moment: Date): number {
  return Math.floor(moment.getTime() / 1_000);
}
