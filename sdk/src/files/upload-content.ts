import { exchange, requireTimeout } from '../client/exchange.ts';
import { readError } from '../client/responses.ts';
import { withRetries } from '../client/retries.ts';
import { type Runtime, systemRuntime } from '../client/runtime.ts';
import { ConfigurationError, ConnectionError, ServiceError, TimeoutError } from '../errors.ts';
import { UploadCompletedError } from '../generated/errors.ts';
import { type CountedStream, countedStream, type Progress } from './counted-stream.ts';
import { type Content, contentOf, contentTypeOf, type UploadSource } from './source.ts';

export type UploadContentOptions = {
  /** Exactly the `content_type` of the file. Default: that of the source, or by the extension of its name. */
  contentType?: string | undefined;
  /** Of a stream, in bytes. */
  size?: number | undefined;
  onProgress?: ((progress: Progress) => void) | undefined;
  signal?: AbortSignal | undefined;
  /** Default: an hour, which is also the limit of the service. */
  timeoutMs?: number | undefined;
  /** Default: 3. A plain stream is read once, so it is never repeated. */
  maxRetries?: number | undefined;
};

type Put = { url: string; content: Content; headers: Record<string, string>; timeoutMs: number } & Pick<
  UploadContentOptions,
  'onProgress' | 'signal'
>;

const UPLOAD_TIMEOUT_MS = 3_600_000;
const DEFAULT_MAX_RETRIES = 3;

/**
 * Sends content to the `upload_url` of a file. It needs no token, so it works in a browser with an URL that your server
 * got from `files.create`. An interrupted upload is repeated from its beginning. Throws `UploadCompletedError` if the file
 * already has content that another call sent.
 */
export async function uploadContent(
  uploadUrl: string,
  source: UploadSource,
  options: UploadContentOptions = {},
  runtime: Runtime = systemRuntime,
): Promise<void> {
  const { contentType, size, signal, onProgress } = options;
  const { timeoutMs = UPLOAD_TIMEOUT_MS, maxRetries = DEFAULT_MAX_RETRIES } = options;
  requireTimeout(timeoutMs);
  const content = contentOf(source, size);
  const type = contentType ?? contentTypeOf(content);
  if (type === undefined)
    throw new ConfigurationError('contentType is required: the source does not tell it');
  const headers = { 'content-type': type };
  const put: Put = { url: uploadUrl, content, headers, timeoutMs, signal, onProgress };
  const send = onProgress && canUseXhr() ? putByXhr : putByFetch;
  let mayHaveArrived = false;
  async function attempt(): Promise<void> {
    try {
      await send(put, runtime);
    } catch (error) {
      // The content of an earlier attempt arrived, only its answer did not.
      if (mayHaveArrived && error instanceof UploadCompletedError) return;
      mayHaveArrived ||= error instanceof ConnectionError || error instanceof ServiceError;
      throw error;
    }
  }
  await withRetries(attempt, { maxRetries: content.isRepeatable ? maxRetries : 0, runtime, signal });
  onProgress?.({ sentBytes: content.size, totalBytes: content.size });
}

async function putByFetch(put: Put, runtime: Runtime): Promise<void> {
  const { url, timeoutMs, signal } = put;
  const { body, headers, counted } = await bodyOf(put);
  // `duplex` is required for streams, and not among the types of every runtime.
  const init = { method: 'PUT', body, headers, timeoutMs, signal, duplex: 'half' as const };
  try {
    await exchange(url, init, runtime, (response) => response.arrayBuffer());
  } catch (error) {
    signal?.throwIfAborted();
    throw counted?.failure() ?? error;
  } finally {
    counted?.close();
  }
}

/** `Content-Length` is required, and `fetch` sends it for a stream only where that can be asked for. */
async function bodyOf({ content, headers, onProgress, signal }: Put): Promise<{
  body: Blob | ReadableStream<Uint8Array>;
  headers: Record<string, string>;
  counted?: CountedStream;
}> {
  const { FixedLengthStream, process } = globalThis as {
    FixedLengthStream?: new (length: number) => TransformStream<Uint8Array, Uint8Array>;
    process?: { versions?: { node?: string; deno?: string } };
  };
  // Deno ignores the header.
  const isNode = process?.versions?.node && !process.versions.deno;
  if (!FixedLengthStream && !isNode) return { body: await content.blob(signal), headers };
  const counted = countedStream(content, onProgress);
  // Cloudflare Workers.
  if (FixedLengthStream)
    return { body: counted.stream.pipeThrough(new FixedLengthStream(content.size)), headers, counted };
  // Node.js and Bun.
  return { body: counted.stream, headers: { ...headers, 'content-length': `${content.size}` }, counted };
}

function canUseXhr(): boolean {
  return 'XMLHttpRequest' in globalThis;
}

/** In browsers only XMLHttpRequest tells how much of a request was sent. */
async function putByXhr({ url, content, headers, timeoutMs, signal, onProgress }: Put, runtime: Runtime) {
  const blob = await content.blob(signal);
  signal?.throwIfAborted();
  const { XMLHttpRequest } = globalThis as unknown as { XMLHttpRequest: new () => Xhr };
  const request = new XMLHttpRequest();
  const abort = () => request.abort();
  signal?.addEventListener('abort', abort);
  try {
    await new Promise((resolve, reject) => {
      request.onload = resolve;
      request.onabort = () => reject(signal?.reason);
      request.onerror = () => reject(new ConnectionError('The upload failed'));
      request.ontimeout = () => reject(new TimeoutError(`The upload took more than ${timeoutMs} ms`));
      request.upload.onprogress = ({ loaded }) =>
        onProgress?.({ sentBytes: Math.min(loaded, content.size), totalBytes: content.size });
      request.open('PUT', url);
      request.timeout = timeoutMs;
      for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
      request.send(blob);
    });
  } finally {
    signal?.removeEventListener('abort', abort);
  }
  const { status, responseText } = request;
  if (status < 200 || status > 299) {
    const retryAfter = request.getResponseHeader('retry-after');
    const answer = { status, headers: retryAfter ? { 'retry-after': retryAfter } : {} };
    throw await readError(new Response(responseText, answer), runtime);
  }
}

/** The part of XMLHttpRequest that is used, for programs that are compiled without the types of the DOM. */
type Xhr = {
  onload: unknown;
  onabort: unknown;
  onerror: unknown;
  ontimeout: unknown;
  upload: { onprogress: (event: { loaded: number }) => void };
  timeout: number;
  status: number;
  responseText: string;
  open(method: string, url: string): void;
  setRequestHeader(name: string, value: string): void;
  getResponseHeader(name: string): string | null;
  send(body: Blob): void;
  abort(): void;
};
