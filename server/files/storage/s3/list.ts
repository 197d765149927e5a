import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  type S3Client,
} from '@aws-sdk/client-s3';
import { isGuid } from '../../../infrastructure/runtime/guid.ts';
import { deleteEach } from '../delete-each.ts';
import { type AwaitedFiles, failsTo, type StoredContent } from '../storage.ts';

type Location = { Bucket: string; Prefix: string };

/** Of one sweep: uploads that are kept may fill the first ones. */
const MAX_SWEPT_PAGES = 10;

/** Keys begin with the time, so the first page of the listing has the oldest objects. */
export async function sweepObjects(
  client: S3Client,
  location: Location,
  { olderThan, awaitedOf }: { olderThan: Date; awaitedOf: AwaitedFiles },
): Promise<number> {
  const guidOf = ({ Key = '' }: { Key?: string | undefined }) => Key.slice(location.Prefix.length);
  let after: string | undefined;
  for (let pages = 0; pages < MAX_SWEPT_PAGES; pages += 1) {
    const page = await client
      .send(new ListObjectsV2Command({ ...location, StartAfter: after }))
      .catch(failsTo('sweep'));
    const objects = page.Contents ?? [];
    const old = objects.filter(({ LastModified }) => LastModified && LastModified < olderThan);
    const awaited = await awaitedOf(old.map(guidOf).filter(isGuid));
    const unwanted = old.filter((object) => !awaited.has(guidOf(object)));
    const deleted = await deleteEach(unwanted, async ({ Key }) => {
      await client.send(new DeleteObjectCommand({ Bucket: location.Bucket, Key }));
      return true;
    });
    if (deleted > 0 || old.length === 0 || !page.IsTruncated) return deleted;
    after = objects.at(-1)?.Key;
  }
  return 0;
}

/** Deletes the parts of uploads whose process died. */
export async function abortUnfinished(
  client: S3Client,
  location: Location,
  olderThan: Date,
): Promise<number> {
  const page = await client.send(new ListMultipartUploadsCommand(location)).catch(failsTo('sweep'));
  const old = (page.Uploads ?? []).filter(({ Initiated }) => Initiated && Initiated < olderThan);
  return deleteEach(old, async ({ Key, UploadId }) => {
    await client.send(new AbortMultipartUploadCommand({ Bucket: location.Bucket, Key, UploadId }));
    return true;
  });
}

const PAGE_OBJECTS = 1_000;

/** A page of the objects whose names are guids, in key order. */
export async function listObjects(
  client: S3Client,
  location: Location,
  after: string | undefined,
): Promise<{ contents: StoredContent[]; next: string | undefined }> {
  const page = await client
    .send(new ListObjectsV2Command({ ...location, StartAfter: after, MaxKeys: PAGE_OBJECTS }))
    .catch(failsTo('list'));
  const objects = page.Contents ?? [];
  const contents = objects.flatMap(({ Key, LastModified }) => {
    const guid = Key?.slice(location.Prefix.length) ?? '';
    return isGuid(guid) && LastModified ? [{ guid, storedAt: LastModified }] : [];
  });
  return { contents, next: page.IsTruncated ? objects.at(-1)?.Key : undefined };
}
