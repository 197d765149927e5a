import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type S3Client,
  S3ServiceException,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { type PutResult, type PutTerms, StorageError } from '../storage.ts';
import { failsTo, isConditionFailed, statusOf } from './client.ts';

/** What is sent at once and held in memory, twice; an inline file fits into one. */
const PART_BYTES = 8_388_608;
/** Of one object, by the protocol. */
const MAX_PARTS = 10_000;
/** Names the put in the object, so that one that was answered too late is known again. */
const PUT_METADATA = 'put';

class TooLarge extends Error {}

/**
 * One request for what fits into a part, otherwise a multipart upload: the store shows an object only when it is whole.
 * `If-None-Match: *` has it refuse to replace one.
 */
export async function putObject(
  client: S3Client,
  target: { Bucket: string; Key: string },
  content: AsyncIterable<Uint8Array>,
  { contentType, maxBytes, putGuid }: PutTerms & { putGuid: string },
): Promise<PutResult> {
  const object = { ...target, ContentType: contentType, Metadata: { [PUT_METADATA]: putGuid } };
  const parts = inParts(content, maxBytes);
  try {
    const first = (await parts.next()).value ?? Buffer.alloc(0);
    const second = await parts.next();
    if (second.done) await putWhole(first);
    else await putParts(first, second.value);
    return 'stored';
  } catch (error) {
    if (error instanceof TooLarge) return 'too_large';
    if (error instanceof S3ServiceException) return whoseIsIt(error);
    throw error;
  }

  async function putWhole(body: Buffer): Promise<void> {
    await client
      .send(new PutObjectCommand({ ...object, Body: body, IfNoneMatch: '*' }))
      .catch(unlessItMayBeThere);
  }

  async function putParts(...begun: Buffer[]): Promise<void> {
    const created = await client.send(new CreateMultipartUploadCommand(object)).catch(failsTo('write'));
    const upload = { ...target, UploadId: created.UploadId };
    try {
      const sent: CompletedPart[] = [];
      const send = async (body: Buffer) => {
        const part = { ...upload, PartNumber: sent.length + 1 };
        const { ETag } = await client
          .send(new UploadPartCommand({ ...part, Body: body }))
          .catch(failsTo('write'));
        sent.push({ PartNumber: part.PartNumber, ETag });
      };
      for (const body of begun) await send(body);
      for await (const body of parts) await send(body);
      await client
        .send(
          new CompleteMultipartUploadCommand({
            ...upload,
            MultipartUpload: { Parts: sent },
            IfNoneMatch: '*',
          }),
        )
        .catch(unlessItMayBeThere);
    } catch (error) {
      // What cannot be given up now is swept later; the reason matters more.
      await client.send(new AbortMultipartUploadCommand(upload)).catch(() => {});
      throw error;
    }
  }

  /** A request that was carried out, but whose answer got lost, is sent again and then finds its own object. */
  async function whoseIsIt(refusal: unknown): Promise<PutResult> {
    const found = await client.send(new HeadObjectCommand(target)).catch(() => undefined);
    if (!found) throw new StorageError('write', refusal);
    return found.Metadata?.[PUT_METADATA] === putGuid ? 'stored' : 'exists';
  }
}

/** Refused because the object is there, or, of a multipart upload, because it has ended. */
function unlessItMayBeThere(error: unknown): never {
  throw isConditionFailed(error) || statusOf(error) === 404 ? error : new StorageError('write', error);
}

/** Of one size but for the last, as some stores demand. */
async function* inParts(
  content: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Buffer, undefined> {
  const partBytes = Math.max(PART_BYTES, Math.ceil(maxBytes / MAX_PARTS));
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  let size = 0;
  for await (const chunk of content) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new TooLarge();
    pending.push(chunk);
    pendingBytes += chunk.byteLength;
    while (pendingBytes > partBytes) {
      const joined = Buffer.concat(pending);
      yield joined.subarray(0, partBytes);
      pending = [joined.subarray(partBytes)];
      pendingBytes -= partBytes;
    }
  }
  if (pendingBytes > 0) yield Buffer.concat(pending);
}
