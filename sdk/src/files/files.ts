import { createResource } from '../client/resources.ts';
import { sleep } from '../client/runtime.ts';
import type { CreateOptions, RequestOptions, Transport } from '../client/transport.ts';
import { ConfigurationError, PorticoError, TimeoutError } from '../errors.ts';
import type { Resources } from '../generated/resources.ts';
import type { Schemas } from '../generated/schema.ts';
import { base64Of, bytesOfContent, contentOf, contentTypeOf, type UploadSource } from './source.ts';
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
   * `storing` until the service has checked it; `wait` returns it afterwards.
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
    const content = contentOf(source, size);
    const filename = given.filename ?? content.name;
    const content_type = given.content_type ?? contentTypeOf(content, filename);
    if (filename === undefined) throw new ConfigurationError('filename is required: the source has no name');
    if (content_type === undefined)
      throw new ConfigurationError('content_type is required: the source does not tell it');
    const isInline = content.size <= MAX_INLINE_BYTES;
    const body = {
      ...{ ...given, filename, content_type },
      ...(isInline && { data: base64Of(await bytesOfContent(content)) }),
    } as NewFile;
    const repeats = {
      ...(signal && { signal }),
      ...(maxRetries !== undefined && { maxRetries }),
    };
    const created = await resource.create(body, { ...repeats, ...(idempotencyKey && { idempotencyKey }) });
    const { upload_url, upload_expires_at, ...file } = created;
    if (isInline) onProgress?.({ sentBytes: content.size, totalBytes: content.size });
    // A repeat with the key of an earlier upload finds no link when its content has arrived.
    else if (upload_url !== undefined)
      await uploadContent(
        upload_url,
        content.isRepeatable ? content : content.stream(),
        {
          ...repeats,
          ...{ contentType: content_type, size: content.size },
          ...(onProgress && { onProgress }),
          ...(timeoutMs !== undefined && { timeoutMs }),
        },
        runtime,
      );
    return file;
  }

  async function wait(
    guid: string,
    { signal, timeoutMs = WAIT_TIMEOUT_MS }: RequestOptions = {},
  ): Promise<File> {
    const givesUpAt = runtime.now() + timeoutMs;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
      const file = await resource.get(guid, signal ? { signal } : {});
      if (file.state === 'failed') throw new FileFailedError(file);
      if (file.state === 'completed') return file;
      if (runtime.now() + pauseMs > givesUpAt)
        throw new TimeoutError(`The file ${guid} is still ${file.state} after ${timeoutMs} ms`);
      await sleep(pauseMs, runtime, signal);
    }
  }

  return { ...resource, upload, wait };
}
