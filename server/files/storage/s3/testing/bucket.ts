import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '../../../../infrastructure/runtime/clock.ts';
import type { SignedRequest } from './sigv4.ts';

export type S3Request = SignedRequest & { path: string; query: URLSearchParams };
export type S3Answer = {
  status: number;
  headers?: Record<string, string | number>;
  body?: Buffer | string;
  code?: string;
};

type StoredObject = { body: Buffer; etag: string; modified: Date; headers: Record<string, string> };
/** Neither completed nor aborted. */
export type MultipartUpload = {
  key: string;
  initiated: Date;
  headers: Record<string, string>;
  parts: Map<number, Buffer>;
};
export type Bucket = ReturnType<typeof createBucket>;

/** The limit of the S3 protocol. */
const MAX_PAGE_OBJECTS = 1_000;

export function createBucket(name: string, clock: Clock) {
  const objects = new Map<string, StoredObject>();
  const uploads = new Map<string, MultipartUpload>();
  return { name, clock, objects, uploads, pageObjects: MAX_PAGE_OBJECTS };
}

/** Carries out a request whose signature is valid. */
export function answerTo(bucket: Bucket, request: S3Request): S3Answer {
  const prefix = `/${bucket.name}/`;
  if (!`${request.path}/`.startsWith(prefix)) return { status: 404, code: 'NoSuchBucket' };
  const key = request.path.slice(prefix.length);
  if (key === '') return list(bucket, request.query);
  switch (request.method) {
    case 'PUT':
      return request.headers['x-amz-copy-source']
        ? copy(bucket, key, request.headers)
        : put(bucket, key, request);
    case 'DELETE':
      bucket.objects.delete(key);
      return { status: 204 };
    default:
      return get(bucket, key, request);
  }
}

export function put(
  bucket: Bucket,
  key: string,
  { headers, body }: Pick<S3Request, 'headers' | 'body'>,
): S3Answer {
  if (headers['if-none-match'] === '*' && bucket.objects.has(key))
    return { status: 412, code: 'PreconditionFailed' };
  return { status: 200, headers: { etag: store(bucket, key, body, keptOf(headers)).etag } };
}

function copy(bucket: Bucket, key: string, headers: IncomingHttpHeaders): S3Answer {
  const source = decodeURIComponent(String(headers['x-amz-copy-source'])).replace(/^\//, '');
  const found = bucket.objects.get(source.slice(bucket.name.length + 1));
  if (!found) return { status: 404, code: 'NoSuchKey' };
  const expected = headers['x-amz-copy-source-if-match'];
  if (expected !== undefined && expected !== found.etag) return { status: 412, code: 'PreconditionFailed' };
  if (headers['if-none-match'] === '*' && bucket.objects.has(key))
    return { status: 412, code: 'PreconditionFailed' };
  const { etag } = store(bucket, key, found.body, found.headers);
  return { status: 200, body: `<CopyObjectResult><ETag>${etag}</ETag></CopyObjectResult>` };
}

function get(bucket: Bucket, key: string, { headers, query, method }: S3Request): S3Answer {
  const found = bucket.objects.get(key);
  if (!found) return { status: 404, code: method === 'HEAD' ? 'NotFound' : 'NoSuchKey' };
  const described = {
    ...found.headers,
    etag: found.etag,
    'last-modified': found.modified.toUTCString(),
    'accept-ranges': 'bytes',
    ...given('content-type', query.get('response-content-type')),
    ...given('content-disposition', query.get('response-content-disposition')),
  };
  const range = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '');
  if (!range)
    return { status: 200, headers: { ...described, 'content-length': found.body.length }, body: found.body };
  const part = found.body.subarray(Number(range[1]), Number(range[2]) + 1);
  const position = `bytes ${range[1]}-${range[2]}/${found.body.length}`;
  return {
    status: 206,
    headers: { ...described, 'content-length': part.length, 'content-range': position },
    body: part,
  };
}

function list(bucket: Bucket, query: URLSearchParams): S3Answer {
  const prefix = query.get('prefix') ?? '';
  const after = query.get('start-after') ?? '';
  const all = [...bucket.objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
  const keys = all.slice(0, Math.min(bucket.pageObjects, Number(query.get('max-keys') ?? MAX_PAGE_OBJECTS)));
  const contents = keys.map(
    (key) =>
      `<Contents><Key>${key}</Key><LastModified>${bucket.objects.get(key)?.modified.toISOString()}</LastModified></Contents>`,
  );
  const truncated = `<IsTruncated>${keys.length < all.length}</IsTruncated>`;
  return { status: 200, body: `<ListBucketResult>${truncated}${contents.join('')}</ListBucketResult>` };
}

function store(bucket: Bucket, key: string, body: Buffer, headers: Record<string, string>): StoredObject {
  const stored = { body, etag: etagOf(body), modified: bucket.clock.now(), headers };
  bucket.objects.set(key, stored);
  return stored;
}

/** The headers of a PUT that a store keeps. */
export function keptOf(headers: IncomingHttpHeaders): Record<string, string> {
  const kept = Object.entries(headers).filter(
    ([name]) => name === 'content-type' || name.startsWith('x-amz-meta-'),
  );
  return Object.fromEntries(kept) as Record<string, string>;
}

function given(name: string, value: string | null): Record<string, string> {
  return value === null ? {} : { [name]: value };
}

export function etagOf(body: Buffer): string {
  return `"${createHash('md5').update(body).digest('hex')}"`;
}
