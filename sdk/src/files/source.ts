/**
 * Content to upload: a `Blob` or `File`, bytes, a file of Node.js (`fileFromPath` of `@portico/sdk/node`), or any object
 * that can open a stream of a known size, again for each attempt. A plain stream is read once, so a failed upload of it
 * is not repeated; it needs `size`.
 */
export type UploadSource = Blob | Uint8Array | ArrayBuffer | ReadableStream<Uint8Array> | OpenableContent;

export type OpenableContent = {
  size: number;
  stream(): ReadableStream<Uint8Array>;
  name?: string;
  type?: string;
};

export type Content = OpenableContent & { isRepeatable: boolean };

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
    return { ...openable(new Blob([source as Uint8Array<ArrayBuffer>])), isRepeatable: true };
  if (!('getReader' in source)) return { ...openable(source), isRepeatable: true };
  if (size === undefined) throw new TypeError('A stream needs its size in bytes');
  return { size, stream: () => source, isRepeatable: false };
}

/** The properties of a `Blob` are on its prototype, so they are read one by one. */
function openable(source: OpenableContent): OpenableContent {
  const { size, name, type } = source;
  return { size, stream: () => source.stream(), ...(name && { name }), ...(type && { type }) };
}

export function contentTypeOf({ type, name = '' }: OpenableContent, filename = name): string | undefined {
  const extension = filename.slice(filename.lastIndexOf('.') + 1).toLowerCase();
  // Without parameters such as a charset: the service compares the whole value.
  return type?.split(';')[0] || CONTENT_TYPES[extension];
}

export async function bytesOfContent({ stream }: Content): Promise<Uint8Array> {
  return new Uint8Array(await new Response(stream()).arrayBuffer());
}

export function base64Of(bytes: Uint8Array): string {
  // In parts: a function takes only so many arguments.
  const partBytes = 0x8000;
  let text = '';
  for (let start = 0; start < bytes.length; start += partBytes)
    text += String.fromCharCode(...bytes.subarray(start, start + partBytes));
  return btoa(text);
}
