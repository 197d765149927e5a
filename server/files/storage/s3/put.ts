import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { failsTo, type PutResult, type PutTerms, StorageError } from '../storage.ts';
import { isAbsent, isConditionFailed } from './client.ts';
import { partsOf, TooLarge } from './parts.ts';

/** Identifies the put in the metadata of the object, to recognise it after a lost response. */
const PUT_METADATA = 'put';

type Target = { Bucket: string; Key: string };

/**
 * Puts content that fits into one part by one request, other content by a multipart upload. A part is in memory and can be
 * sent again after a failure. `If-None-Match: *` makes the store refuse to replace an object.
 */
export async function putObject(
  client: S3Client,
  target: Target,
  content: AsyncIterable<Uint8Array>,
  { contentType, maxBytes, putGuid }: PutTerms & { putGuid: string },
): Promise<PutResult> {
  const object = { ...target, ContentType: contentType, Metadata: { [PUT_METADATA]: putGuid } };
  const parts = partsOf(content, maxBytes);

  async function putParts(first: Buffer, second: Buffer): Promise<PutResult> {
    // Otherwise the store would refuse the content only after it has all of it.
    const existing = await find();
    if (existing) return existing;
    const { UploadId } = await client.send(new CreateMultipartUploadCommand(object)).catch(failsTo('write'));
    const upload = { ...target, UploadId };
    const sent: CompletedPart[] = [];
    async function send(body: Buffer): Promise<void> {
      const part = { PartNumber: sent.length + 1 };
      const { ETag } = await client
        .send(new UploadPartCommand({ ...upload, ...part, Body: body }))
        .catch(failsTo('write'));
      sent.push({ ...part, ETag });
    }
    try {
      await send(first);
      await send(second);
      for await (const part of parts) await send(part);
      const complete = { ...upload, MultipartUpload: { Parts: sent }, IfNoneMatch: '*' };
      await client.send(new CompleteMultipartUploadCommand(complete)).catch(failsTo('write'));
      return 'stored';
    } catch (error) {
      // The sweep repeats this if it fails.
      await client.send(new AbortMultipartUploadCommand(upload)).catch(() => {});
      throw error;
    }
  }

  async function find(): Promise<PutResult | undefined> {
    const found = await client.send(new HeadObjectCommand(target)).catch(() => undefined);
    return found && (found.Metadata?.[PUT_METADATA] === putGuid ? 'stored' : 'exists');
  }

  try {
    const first = await parts.next();
    const second = await parts.next();
    if (!first.done && !second.done) return await putParts(first.value, second.value);
    const put = { ...object, Body: first.value ?? Buffer.alloc(0), IfNoneMatch: '*' };
    await client.send(new PutObjectCommand(put)).catch(failsTo('write'));
    return 'stored';
  } catch (error) {
    if (error instanceof TooLarge) return 'too_large';
    // The client retries a request whose response was lost, and then finds its own object or no upload.
    const isRepeated =
      error instanceof StorageError && (isConditionFailed(error.cause) || isAbsent(error.cause));
    const found = isRepeated ? await find() : undefined;
    if (found) return found;
    throw error;
  } finally {
    // Closes a source that was not read to its end.
    await parts.return(undefined);
  }
}
