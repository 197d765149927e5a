import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../../infrastructure/runtime/clock.ts';
import type { Encryption } from '../../../infrastructure/runtime/encryption.ts';
import { Failure } from '../../../infrastructure/runtime/failure.ts';
import type { DownloadTerms, UploadTerms } from '../storage.ts';

const PURPOSE = 'file-links';

/** What a request to a link consists of, as the route found it; a repeated parameter arrives as an array. */
export type LinkRequest = { guid: string; query: Readonly<Record<string, unknown>> };
export type UploadRequest = LinkRequest & { contentType: string | undefined };

export type Links = ReturnType<typeof createLinks>;

/**
 * The folder's own pre-signed links. Everything that a link allows is in it and under its HMAC, so serving one
 * needs no lookup. It names the master key that its own key is derived from: a link outlives the rotation to a new
 * master key as long as the old one is still given.
 */
export function createLinks({
  uploadUrl,
  encryption,
  clock,
}: {
  uploadUrl: string;
  encryption: Pick<Encryption, 'currentKeyId' | 'deriveKey'>;
  clock: Clock;
}) {
  /** JSON keeps the parts apart: no two lists of texts are the same text. The method says what the link is for. */
  function signatureOf(keyId: string, parts: readonly string[]): Buffer | undefined {
    const key = encryption.deriveKey(PURPOSE, keyId);
    return key && createHmac('sha256', key).update(JSON.stringify(parts)).digest();
  }

  function linkTo(method: Method, guid: string, terms: Readonly<Record<string, string>>): string {
    const keyId = encryption.currentKeyId;
    const signature = signatureOf(keyId, [method, guid, ...Object.values(terms)]) as Buffer;
    const query = new URLSearchParams({ ...terms, key: keyId, signature: signature.toString('hex') });
    return `${uploadUrl}/${FOLDERS[method]}/${guid}?${query}`;
  }

  /** The signed terms by name, or undefined when this is not a link that we made. */
  function verify<Name extends string>(
    method: Method,
    { guid, query }: LinkRequest,
    names: readonly Name[],
  ): Record<Name, string> | undefined {
    const given = [...names, 'key', 'signature'].map((name) => query[name]);
    if (!given.every((value) => typeof value === 'string')) return undefined;
    if (Object.keys(query).length !== given.length) return undefined;
    const [keyId, signature] = given.splice(names.length) as [string, string];
    if (!SIGNATURE_PATTERN.test(signature)) return undefined;
    const expected = signatureOf(keyId, [method, guid, ...given]);
    if (!expected || !timingSafeEqual(expected, Buffer.from(signature, 'hex'))) return undefined;
    return Object.fromEntries(names.map((name, index) => [name, given[index]])) as Record<Name, string>;
  }

  function hasExpired(expiresAt: Date): boolean {
    return clock.now() >= expiresAt;
  }

  return {
    uploadUrl({ guid, contentType, maxBytes, expiresAt }: UploadTerms): string {
      const terms = {
        content_type: contentType,
        max_bytes: String(maxBytes),
        expires: millisecondsOf(expiresAt),
      };
      return linkTo('PUT', guid, terms);
    },

    downloadUrl({ guid, filename, contentType, expiresAt }: DownloadTerms): string {
      return linkTo('GET', guid, { filename, content_type: contentType, expires: millisecondsOf(expiresAt) });
    },

    /** The signature first: what it does not cover is nobody's word. Content-Length is left to the route. */
    checkUpload(request: UploadRequest): UploadTerms | Failure {
      const signed = verify('PUT', request, ['content_type', 'max_bytes', 'expires']);
      if (!signed) return new Failure('signature_invalid', SIGNATURE_INVALID);
      const expiresAt = new Date(Number(signed.expires));
      if (hasExpired(expiresAt))
        return new Failure('upload_expired', 'The upload URL has expired; create the file again');
      const contentType = signed.content_type;
      if (request.contentType?.toLowerCase() !== contentType)
        return new Failure(
          'content_type_mismatch',
          `Content-Type must be ${contentType}, as the file was created`,
        );
      return { guid: request.guid, contentType, maxBytes: Number(signed.max_bytes), expiresAt };
    },

    /** For HEAD as well: it tells less than the GET that the link allows. */
    checkDownload(request: LinkRequest): DownloadTerms | Failure {
      const signed = verify('GET', request, ['filename', 'content_type', 'expires']);
      if (!signed) return new Failure('signature_invalid', SIGNATURE_INVALID);
      const expiresAt = new Date(Number(signed.expires));
      if (hasExpired(expiresAt))
        return new Failure('download_expired', 'The download URL has expired; ask for a new one');
      return { guid: request.guid, filename: signed.filename, contentType: signed.content_type, expiresAt };
    },
  };
}

type Method = 'PUT' | 'GET';
const FOLDERS = { PUT: 'uploads', GET: 'downloads' } as const satisfies Record<Method, string>;

const SIGNATURE_PATTERN = /^[0-9a-f]{64}$/;
const SIGNATURE_INVALID = 'The URL was changed: use it exactly as it was given';

function millisecondsOf(moment: Date): string {
  return String(moment.getTime());
}
