import { createHash, createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/**
 * Verification of Signature Version 4, written from "Authenticating Requests (AWS Signature Version 4)" of the
 * Amazon S3 reference, independently of the client under test.
 */
export type SignedRequest = { method: string; url: string; headers: IncomingHttpHeaders; body: Buffer };
export type Credentials = { accessKeyId: string; secretAccessKey: string; region: string };
export type Refusal =
  | 'AccessDenied'
  | 'InvalidAccessKeyId'
  | 'SignatureDoesNotMatch'
  | 'RequestTimeTooSkewed';

const ALGORITHM = 'AWS4-HMAC-SHA256';
const MAX_SKEW_MS = 15 * 60_000;
const MAX_EXPIRES_SECONDS = 7 * 24 * 3_600;
const EMPTY_HASH = sha256('');

type Claim = {
  credential: string;
  signedHeaders: string;
  signature: string;
  date: string;
  /** Seconds, for a signature in the query. */
  expires?: number;
  payloadHash: string;
};

/** Undefined when the signature is valid. `now` is the store's clock. */
export function refusalOf(request: SignedRequest, credentials: Credentials, now: Date): Refusal | undefined {
  const url = new URL(request.url, 'http://store');
  const claim = claimInQuery(url.searchParams) ?? claimInHeaders(request);
  if (!claim) return 'AccessDenied';
  const [accessKeyId, day, region, service, terminator] = claim.credential.split('/');
  if (accessKeyId !== credentials.accessKeyId) return 'InvalidAccessKeyId';
  const signedAt = momentOf(claim.date);
  if (region !== credentials.region || service !== 's3' || terminator !== 'aws4_request')
    return 'AccessDenied';
  if (!signedAt || !claim.date.startsWith(day ?? ' ')) return 'AccessDenied';
  if (!allSigned(request.headers, claim.signedHeaders.split(';'))) return 'AccessDenied';

  const scope = `${day}/${region}/${service}/${terminator}`;
  const text = [ALGORITHM, claim.date, scope, sha256(canonicalRequest(request, url, claim))].join('\n');
  const key = [day ?? '', region, service, terminator].reduce<string | Buffer>(
    (secret, part) => createHmac('sha256', secret).update(part).digest(),
    `AWS4${credentials.secretAccessKey}`,
  );
  if (createHmac('sha256', key).update(text).digest('hex') !== claim.signature)
    return 'SignatureDoesNotMatch';
  if (claim.payloadHash !== 'UNSIGNED-PAYLOAD' && claim.payloadHash !== sha256(request.body))
    return 'AccessDenied';

  if (claim.expires === undefined)
    return Math.abs(now.getTime() - signedAt.getTime()) > MAX_SKEW_MS ? 'RequestTimeTooSkewed' : undefined;
  if (!(claim.expires > 0 && claim.expires <= MAX_EXPIRES_SECONDS)) return 'AccessDenied';
  return now.getTime() >= signedAt.getTime() + claim.expires * 1_000 ? 'AccessDenied' : undefined;
}

function claimInQuery(query: URLSearchParams): Claim | undefined {
  if (query.get('X-Amz-Algorithm') !== ALGORITHM) return undefined;
  return {
    credential: query.get('X-Amz-Credential') ?? '',
    signedHeaders: query.get('X-Amz-SignedHeaders') ?? '',
    signature: query.get('X-Amz-Signature') ?? '',
    date: query.get('X-Amz-Date') ?? '',
    expires: Number(query.get('X-Amz-Expires')),
    payloadHash: 'UNSIGNED-PAYLOAD',
  };
}

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/;

function claimInHeaders({ headers }: SignedRequest): Claim | undefined {
  const [, credential, signedHeaders, signature] = AUTHORIZATION.exec(headers.authorization ?? '') ?? [];
  if (!credential || !signedHeaders || !signature) return undefined;
  const payloadHash = String(headers['x-amz-content-sha256'] ?? EMPTY_HASH);
  return { credential, signedHeaders, signature, date: String(headers['x-amz-date']), payloadHash };
}

/** The host and every header that changes the effect of the request: none may be added to a pre-signed URL. */
function allSigned(headers: IncomingHttpHeaders, signed: readonly string[]): boolean {
  if (!signed.includes('host')) return false;
  return Object.keys(headers).every((name) => !name.startsWith('x-amz-') || signed.includes(name));
}

function canonicalRequest({ method, headers }: SignedRequest, url: URL, claim: Claim): string {
  const query = [...url.searchParams]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort();
  const names = claim.signedHeaders.split(';');
  const lines = names.map(
    (name) =>
      `${name}:${String(headers[name] ?? '')
        .trim()
        .replace(/ +/g, ' ')}\n`,
  );
  const path = url.pathname.split('/').map(decodeURIComponent).map(encode).join('/');
  return [method, path, query.join('&'), lines.join(''), claim.signedHeaders, claim.payloadHash].join('\n');
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function momentOf(date: string): Date | undefined {
  const parts = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(date)?.slice(1).map(Number);
  if (!parts) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts;
  return new Date(Date.UTC(year, month - 1, day, hour, minute, second));
}

function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
