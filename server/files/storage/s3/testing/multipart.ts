import {
  type Bucket,
  etagOf,
  keptOf,
  type MultipartUpload,
  put,
  type S3Answer,
  type S3Request,
} from './bucket.ts';

/** The store's minimum for every part but the last. */
const MIN_PART_BYTES = 5 * 1_048_576;

/** Undefined for requests that do not concern a multipart upload. */
export function answerToMultipart(bucket: Bucket, request: S3Request): S3Answer | undefined {
  const { method, query } = request;
  const key = request.path.slice(`/${bucket.name}/`.length);
  if (query.has('uploads')) return key === '' ? list(bucket, query) : create(bucket, key, request);
  const id = query.get('uploadId');
  if (id === null) return undefined;
  const upload = bucket.uploads.get(id);
  if (!upload || upload.key !== key) return { status: 404, code: 'NoSuchUpload' };
  if (method === 'PUT') {
    upload.parts.set(Number(query.get('partNumber')), request.body);
    return { status: 200, headers: { etag: etagOf(request.body) } };
  }
  if (method === 'POST') return complete(bucket, id, upload, request);
  bucket.uploads.delete(id);
  return { status: 204 };
}

function create({ uploads, clock }: Bucket, key: string, { headers }: S3Request): S3Answer {
  const id = `upload-${uploads.size + 1}-${key}`;
  uploads.set(id, { key, initiated: clock.now(), headers: keptOf(headers), parts: new Map() });
  const body = `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`;
  return { status: 200, body };
}

function complete(
  bucket: Bucket,
  id: string,
  { key, headers, parts }: MultipartUpload,
  request: S3Request,
): S3Answer {
  const named = [...request.body.toString().matchAll(/<ETag>(.*?)<\/ETag><PartNumber>(\d+)<\/PartNumber>/g)];
  const bodies = named.map(([, etag, number]) => {
    const body = parts.get(Number(number));
    return body && etagOf(body) === etag?.replaceAll('&quot;', '"') ? body : undefined;
  });
  if (!bodies.every((body) => body !== undefined)) return { status: 400, code: 'InvalidPart' };
  if (bodies.slice(0, -1).some(({ length }) => length < MIN_PART_BYTES))
    return { status: 400, code: 'EntityTooSmall' };
  const condition = { 'if-none-match': request.headers['if-none-match'] };
  const answer = put(bucket, key, { headers: { ...headers, ...condition }, body: Buffer.concat(bodies) });
  if (answer.code) return answer;
  bucket.uploads.delete(id);
  return { status: 200, body: '<CompleteMultipartUploadResult></CompleteMultipartUploadResult>' };
}

function list({ uploads }: Bucket, query: URLSearchParams): S3Answer {
  const listed = [...uploads]
    .filter(([, { key }]) => key.startsWith(query.get('prefix') ?? ''))
    .map(
      ([id, { key, initiated }]) =>
        `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>${initiated.toISOString()}</Initiated></Upload>`,
    );
  return { status: 200, body: `<ListMultipartUploadsResult>${listed.join('')}</ListMultipartUploadsResult>` };
}
