import { requireTimeout } from '../client/exchange.ts';
import { createResource } from '../client/resources.ts';
import { sleep } from '../client/runtime.ts';
import type { CreateOptions, RequestOptions, Transport } from '../client/transport.ts';
import { ConfigurationError, PorticoError, TimeoutError } from '../errors.ts';
import { IdempotencyKeyReusedError, InvalidScopesError, UploadCompletedError } from '../generated/errors.ts';
import type { Resources } from '../generated/resources.ts';
import type { Schemas } from '../generated/schema.ts';
import {
  base64Of,
  bytesOfContent,
  type Content,
  contentOf,
  contentTypeOf,
  isContentOf,
  type UploadSource,
} from './source.ts';
import { type UploadContentOptions, uploadContent } from './upload-content.ts';

type File = Schemas['File'];
type NewFile = Schemas['NewFile'];

export type UploadOptions = Omit<NewFile, 'data' | 'filename' | 'content_type'> &
  Partial<Pick<NewFile, 'filename' | 'content_type'>> &
  Omit<UploadContentOptions, 'contentType'> &
  Pick<CreateOptions, 'idempotencyKey'>;

export type Files = Resources['files'] & {
  /**
   * Creates a file with its content: small content in the call itself, other content by `upload_url`. The file is
   * `storing` until the service has checked it; `wait` returns it afterwards. With the `idempotencyKey` of an earlier
   * call it continues that upload, also after a restart of your program, and needs the scope `files:read`.
   */
  upload(source: UploadSource, options: UploadOptions): Promise<File>;
  /** Waits until a file is `completed`. Throws `FileFailedError` when it failed the checks. */
  wait(guid: string, options?: Pick<RequestOptions, 'signal' | 'timeoutMs'>): Promise<File>;
};

/** The content of a file did not pass the checks; `failureCode` says which one. */
export class FileFailedError extends PorticoError {
  override name = 'FileFailedError';
  readonly file: File;
  readonly failureCode: File['failure_code'];

  constructor(file: File) {
    super(`The file ${file.guid} failed: ${file.failure_code}`);
    this.file = file;
    this.failureCode = file.failure_code;
  }
}

/** Above it, the third that base64 adds costs more than the second request. The service accepts 7.5 MB. */
const MAX_INLINE_BYTES = 1_048_576;
const WAIT_TIMEOUT_MS = 120_000;
const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 5_000;

export function createFiles(transport: Transport): Files {
  const resource = createResource<Resources['files']>(transport, 'files');
  const { runtime } = transport;

  async function upload(source: UploadSource, options: UploadOptions): Promise<File> {
    const { size, onProgress, signal, timeoutMs, maxRetries, idempotencyKey, ...given } = options;
    // Before the file is created, which the upload would leave without content.
    if (timeoutMs !== undefined) requireTimeout(timeoutMs);
    const content = contentOf(source, size);
    const filename = given.filename ?? content.name;
    const content_type = given.content_type ?? contentTypeOf(content, filename);
    if (filename === undefined) throw new ConfigurationError('filename is required: the source has no name');
    if (content_type === undefined)
      throw new ConfigurationError('content_type is required: the source does not tell it');
    const body = { ...given, filename, content_type } as NewFile;
    const repeats = { signal, maxRetries };
    const creation = { ...repeats, idempotencyKey: idempotencyKey || undefined };
    const reportEnd = () => onProgress?.({ sentBytes: content.size, totalBytes: content.size });
    if (content.size <= MAX_INLINE_BYTES) {
      const data = base64Of(await bytesOfContent(content, signal));
      const file = await resource.create({ ...body, data }, creation);
      reportEnd();
      return file;
    }
    const { upload_url, upload_expires_at, ...file } = await createForUpload(body, creation);
    if (upload_url !== undefined)
      try {
        const settings = { ...repeats, contentType: content_type, size: content.size, onProgress, timeoutMs };
        await uploadContent(upload_url, source, settings, runtime);
        return file;
      } catch (error) {
        // Another call with the same key was faster.
        if (!(error instanceof UploadCompletedError) || !content.isRepeatable) throw error;
      }
    const completed = await waitFor(file.guid, content, repeats);
    reportEnd();
    return completed;
  }

  /**
   * A file that waits for its content. A repeat with the key of an earlier call returns the file of that call: completed
   * if its content has arrived, and a new one if its link expired before.
   */
  async function createForUpload(body: NewFile, options: CreateOptions): Promise<File> {
    const { idempotencyKey, ...repeats } = options;
    const call = { ...options, method: 'POST', path: '/api/files', body };
    const { data: created, headers } = await transport.json<File>(call);
    // A random key is replayed within one call only, where the link of the first answer is still new.
    if (!idempotencyKey || !headers.has('idempotency-replayed')) return created;
    const file = await resource.get(created.guid, repeats).catch((error: unknown) => {
      if (error instanceof InvalidScopesError) return created;
      throw error;
    });
    if (file.upload_url !== undefined) return file;
    try {
      return await wait(file.guid, repeats);
    } catch (error) {
      if (!(error instanceof FileFailedError) || error.failureCode !== 'upload_expired') throw error;
      // The key comes from the expired file, so that the next repeat finds the new one.
      return createForUpload(body, { ...repeats, idempotencyKey: `${file.guid}-expired` });
    }
  }

  /** The completed file, which another call has uploaded. */
  async function waitFor(guid: string, content: Content, options: RequestOptions): Promise<File> {
    const file = await wait(guid, options);
    if (await isContentOf(file, content, options.signal)) return file;
    // The answer of the service for inline content.
    throw new IdempotencyKeyReusedError(
      `idempotencyKey belongs to the file ${guid}, which has other content; use a new key`,
      {
        ...{ status: 422, error: 'unprocessable', messageCode: 'idempotency_key_reused' },
        ...{ requestId: undefined, retryAfterSeconds: undefined },
      },
    );
  }

  async function wait(
    guid: string,
    { signal, timeoutMs = WAIT_TIMEOUT_MS }: RequestOptions = {},
  ): Promise<File> {
    // NaN would never give up.
    if (!(timeoutMs >= 0)) throw new ConfigurationError(`timeoutMs must be at least 0, unlike ${timeoutMs}`);
    const givesUpAt = runtime.now() + timeoutMs;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
      const file = await resource.get(guid, { signal });
      if (file.state === 'failed') throw new FileFailedError(file);
      if (file.state === 'completed') return file;
      if (runtime.now() + pauseMs > givesUpAt)
        throw new TimeoutError(`The file ${guid} is still ${file.state} after ${timeoutMs} ms`);
      await sleep(pauseMs, runtime, signal);
    }
  }

  return { ...resource, upload, wait };
}
