import { abortable } from '../client/runtime.ts';
import { ConfigurationError } from '../errors.ts';

/**
 * Content to upload: a `Blob` or `File`, bytes, a file of Node.js (`fileFromPath` of `@portico/sdk/node`), or any object
 * that can open a stream of a known size, again for each attempt. A plain stream is read once, so a failed upload of it
 * is not repeated; it needs `size`. An attempt reads its stream to the end or cancels it.
 */
export type UploadSource = Blob | Uint8Array | ArrayBuffer | ReadableStream<Uint8Array> | OpenableContent;

export type OpenableContent = {
  size: number;
  stream(): ReadableStream<Uint8Array>;
  name?: string;
  type?: string;
};

export type Content = OpenableContent & {
  isRepeatable: boolean;
  /** The whole content; a browser reads it from the disk. The signal cancels the stream of the source. */
  blob(signal: AbortSignal | undefined): Promise<Blob>;
};

/** Larger content is compared by its size alone: Web Crypto hashes no streams. */
const MAX_HASHED_BYTES = 67_108_864;
const CONTENT_TYPES: Readonly<Record<string, string>> = {
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  json: 'application/json',
  mp4: 'video/mp4',
  pdf: 'application/pdf',
  png: 'image/png',
};

export function contentOf(source: UploadSource, size: number | undefined): Content {
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source))
    return contentOf(new Blob([source as Uint8Array<ArrayBuffer>]), undefined);
  const content = isStream(source) ? { size, stream: () => source } : source;
  if (typeof content?.stream !== 'function')
    throw new ConfigurationError('The source must be a Blob, bytes, a stream, or an object with stream()');
  const isRepeatable = content === source;
  const total = content.size;
  if (total === undefined || !Number.isSafeInteger(total) || total < 0)
    throw new ConfigurationError('size is required: the number of bytes of the source');
  const stream = () => content.stream();
  // The properties of a Blob are on its prototype, so they are read one by one.
  const { name, type } = content as OpenableContent;
  return {
    ...{ size: total, stream, isRepeatable, ...(name && { name }), ...(type && { type }) },
    blob: async (signal) => (source instanceof Blob ? source : blobOf(stream(), total, signal)),
  };
}

function isStream(source: UploadSource): source is ReadableStream<Uint8Array> {
  return 'getReader' in Object(source);
}

export function sizeError(found: number, size: number): ConfigurationError {
  return new ConfigurationError(`The source has ${found} bytes instead of ${size}`);
}

async function blobOf(
  stream: ReadableStream<Uint8Array>,
  size: number,
  signal: AbortSignal | undefined,
): Promise<Blob> {
  const body = signal ? stream.pipeThrough(new TransformStream(), { signal }) : stream;
  const blob = await abortable(new Response(body).blob(), signal);
  if (blob.size !== size) throw sizeError(blob.size, size);
  return blob;
}

export function contentTypeOf({ type, name = '' }: OpenableContent, filename = name): string | undefined {
  const extension = filename.slice(filename.lastIndexOf('.') + 1).toLowerCase();
  // Without parameters such as a charset: the service compares the whole value.
  return type?.split(';')[0] || CONTENT_TYPES[extension];
}

export async function bytesOfContent(
  content: Content,
  signal: AbortSignal | undefined,
): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await (await content.blob(signal)).arrayBuffer());
}

/** Whether a completed file has this content. */
export async function isContentOf(
  { size, sha256 }: { size?: number; sha256?: string },
  content: Content,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  if (size !== content.size) return false;
  if (size > MAX_HASHED_BYTES) return true;
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', await bytesOfContent(content, signal)));
  return sha256 === Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

export function base64Of(bytes: Uint8Array): string {
  // In parts: a function takes only so many arguments.
  const partBytes = 0x8000;
  let text = '';
  for (let start = 0; start < bytes.length; start += partBytes)
    text += String.fromCharCode(...bytes.subarray(start, start + partBytes));
  return btoa(text);
}
