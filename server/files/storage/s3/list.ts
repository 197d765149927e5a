import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  type S3Client,
} from '@aws-sdk/client-s3';
import { isGuid } from '../../../infrastructure/runtime/guid.ts';
import type { StoredContent } from '../storage.ts';
import { failsTo } from './client.ts';

type Place = { Bucket: string; Prefix: string };

/** Lists keys in order, and these begin with the time: the one page that is looked at has the oldest. */
export async function sweepObjects(client: S3Client, place: Place, olderThan: Date): Promise<number> {
  const page = await client.send(new ListObjectsV2Command(place)).catch(failsTo('sweep'));
  const old = (page.Contents ?? []).filter(({ LastModified }) => LastModified && LastModified < olderThan);
  for (const { Key } of old)
    await client.send(new DeleteObjectCommand({ Bucket: place.Bucket, Key })).catch(failsTo('sweep'));
  return old.length;
}

/** Multipart uploads that were begun and never ended; a store keeps their parts, and charges for them. */
export async function sweepMultiparts(client: S3Client, place: Place, olderThan: Date): Promise<number> {
  const page = await client.send(new ListMultipartUploadsCommand(place)).catch(failsTo('sweep'));
  const old = (page.Uploads ?? []).filter(({ Initiated }) => Initiated && Initiated < olderThan);
  for (const { Key, UploadId } of old)
    await client
      .send(new AbortMultipartUploadCommand({ Bucket: place.Bucket, Key, UploadId }))
      .catch(failsTo('sweep'));
  return old.length;
}

/** Objects in one page of the listing. */
const PAGE_OBJECTS = 1_000;

/** A page of the objects whose names are guids, in the order of their keys. */
export async function listObjects(
  client: S3Client,
  place: Place,
  after: string | undefined,
): Promise<{ contents: StoredContent[]; next: string | undefined }> {
  const page = await client
    .send(new ListObjectsV2Command({ ...place, StartAfter: after, MaxKeys: PAGE_OBJECTS }))
    .catch(failsTo('list'));
  const objects = page.Contents ?? [];
  const contents = objects.flatMap(({ Key, LastModified }) => {
    const guid = Key?.slice(place.Prefix.length) ?? '';
    return isGuid(guid) && LastModified ? [{ guid, storedAt: LastModified }] : [];
  });
  return { contents, next: page.IsTruncated ? objects.at(-1)?.Key : undefined };
}
