import { HeadObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { type PutResult, type PutTerms, StorageError } from '../storage.ts';
import { isConditionFailed } from './client.ts';

/** Identifies the put in the metadata of the object, to recognise it after a lost response. */
const PUT_METADATA = 'put';

/**
 * Puts content in one request, from memory: only inline content, of a few megabytes, is put through this service.
 * `If-None-Match: *` makes the store refuse to replace an object.
 */
export async function putObject(
  client: S3Client,
  target: { Bucket: string; Key: string },
  content: AsyncIterable<Uint8Array>,
  { contentType, maxBytes, putGuid }: PutTerms & { putGuid: string },
): Promise<PutResult> {
  const body = await collect(content, maxBytes);
  if (!body) return 'too_large';
  const metadata = { ContentType: contentType, Metadata: { [PUT_METADATA]: putGuid } };
  try {
    await client.send(new PutObjectCommand({ ...target, ...metadata, Body: body, IfNoneMatch: '*' }));
    return 'stored';
  } catch (error) {
    if (!isConditionFailed(error)) throw new StorageError('write', error);
    return resolveConflict(error);
  }

  /** The client retries a request whose response was lost, and then finds its own object. */
  async function resolveConflict(refusal: unknown): Promise<PutResult> {
    const found = await client.send(new HeadObjectCommand(target)).catch(() => undefined);
    if (!found) throw new StorageError('write', refusal);
    return found.Metadata?.[PUT_METADATA] === putGuid ? 'stored' : 'exists';
  }
}

async function collect(content: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of content) {
    size += chunk.byteLength;
    if (size > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
