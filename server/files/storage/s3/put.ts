import { Readable } from 'node:stream';
import { HeadObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { type PutResult, type PutTerms, StorageError } from '../storage.ts';
import { isConditionFailed } from './client.ts';
import { exactly, TooLarge } from './exactly.ts';

/** Identifies the put in the metadata of the object, to recognise it after a lost response. */
const PUT_METADATA = 'put';
/** Larger content is streamed. Content in memory can be sent again after a failure, so the rest is collected. */
const MAX_COLLECTED_BYTES = 8 * 1_048_576;

/** The largest object that S3 stores in one PUT, and copies in one request. */
export const MAX_PUT_BYTES = 5 * 1_073_741_824;

type Target = { Bucket: string; Key: string };

/** Puts content in one request. `If-None-Match: *` makes the store refuse to replace an object. */
export async function putObject(
  client: S3Client,
  target: Target,
  content: AsyncIterable<Uint8Array>,
  { contentType, maxBytes, size, putGuid }: PutTerms & { putGuid: string },
): Promise<PutResult> {
  const metadata = { ContentType: contentType, Metadata: { [PUT_METADATA]: putGuid } };
  const terms = { ...target, ...metadata, IfNoneMatch: '*' };
  if (size !== undefined && size > Math.min(maxBytes, MAX_PUT_BYTES)) return 'too_large';
  if (size !== undefined && size > MAX_COLLECTED_BYTES)
    return conclude(() => sendStream(client, terms, content, size));
  const body = await collect(content, maxBytes);
  if (!body) return 'too_large';
  return conclude(async () => {
    await client.send(new PutObjectCommand({ ...terms, Body: body }));
    return 'stored';
  });

  async function conclude(send: () => Promise<PutResult>): Promise<PutResult> {
    try {
      return await send();
    } catch (error) {
      if (error instanceof SourceError) throw error.cause;
      if (!isConditionFailed(error)) throw new StorageError('write', error);
      return resolveConflict(error);
    }
  }

  /** The client retries a request whose response was lost, and then finds its own object. */
  async function resolveConflict(refusal: unknown): Promise<PutResult> {
    const found = await client.send(new HeadObjectCommand(target)).catch(() => undefined);
    if (!found) throw new StorageError('write', refusal);
    return found.Metadata?.[PUT_METADATA] === putGuid ? 'stored' : 'exists';
  }
}

class SourceError extends Error {}

/** Without retries: the client does not repeat a request whose body is a stream. */
async function sendStream(
  client: S3Client,
  terms: Target & { IfNoneMatch: string },
  content: AsyncIterable<Uint8Array>,
  size: number,
): Promise<PutResult> {
  const body = Readable.from(exactly(content, size));
  const aborting = new AbortController();
  let failure: { cause: unknown } | undefined;
  // The client pipes the stream, which does not pass errors on: the request would wait for more.
  body.on('error', (cause) => {
    failure = { cause };
    aborting.abort();
  });
  try {
    await client.send(new PutObjectCommand({ ...terms, Body: body, ContentLength: size }), {
      abortSignal: aborting.signal,
      // None: a stream takes as long as its source, for example the export of another cell.
      requestTimeout: 0,
    });
    return 'stored';
  } catch (error) {
    if (!failure) throw error;
    if (failure.cause instanceof TooLarge) return 'too_large';
    throw new SourceError('the source failed', failure);
  } finally {
    body.destroy();
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
