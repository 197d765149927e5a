/**
 * Content to upload: a `Blob` or `File`, bytes, a file of Node.js (`fileFromPath` of `@portico/sdk/node`), or any object
 * that can open a stream of a known size, again for each attempt. A plain stream is read once, so a failed upload of it
 * is not repeated; it needs `size`. A stream that is not read to its end is cancelled.
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
  /** The whole content; a browser reads it from the disk. */
  blob(): Promise<Blob>;
};

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
  const isRepeatable = !('getReader' in source);
  const content = isRepeatable ? source : { size, stream: () => source };
  if (content.size === undefined) throw new TypeError('A stream needs its size in bytes');
  const stream = () => content.stream();
  // The properties of a Blob are on its prototype, so they are read one by one.
  const { name, type } = content as OpenableContent;
  return {
    ...{ size: content.size, stream, isRepeatable, ...(name && { name }), ...(type && { type }) },
    blob: async () => (source instanceof Blob ? source : new Response(stream()).blob()),
  };
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
