import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../../infrastructure/runtime/clock.ts';
import type { Encryption } from '../../../infrastructure/runtime/encryption.ts';
import { Failure } from '../../../infrastructure/runtime/failure.ts';
import type { DownloadTerms, LinkOwner, UploadTerms } from '../storage.ts';

const PURPOSE = 'file-links';

/** A repeated query parameter arrives as an array. */
export type LinkRequest = { guid: string; query: Readonly<Record<string, unknown>> };
export type UploadRequest = LinkRequest & { contentType: string | undefined };
/** What the calls of a link are counted by. */
export type Counted = { countedBy: string };

export type Links = ReturnType<typeof createLinks>;

/**
 * Signed upload and download links for folder storage. All terms of a link are in the URL and covered by its
 * HMAC, so verifying one needs no query. The link names the master key that its signing key derives from, so it
 * survives a master key rotation while the old key is configured.
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
  /** JSON separates the parts unambiguously. */
  function signatureOf(keyId: string, parts: readonly string[]): Buffer | undefined {
    const key = encryption.deriveKey(PURPOSE, keyId);
    return key && createHmac('sha256', key).update(JSON.stringify(parts)).digest();
  }

  function linkTo(
    method: Method,
    { guid, organizationGuid: organization }: LinkOwner & { guid: string },
    given: Readonly<Record<string, string>>,
  ): string {
    const terms = { ...given, organization };
    const keyId = encryption.currentKeyId;
    const signature = signatureOf(keyId, [method, guid, ...Object.values(terms)]) as Buffer;
    const query = new URLSearchParams({ ...terms, key: keyId, signature: signature.toString('hex') });
    return `${uploadUrl}/${PATHS[method]}/${guid}?${query}`;
  }

  /**
   * The signed terms by name; undefined when the signature is invalid. Links of earlier versions name no Organization
   * and are counted by their file.
   */
  function verify<Name extends string>(
    method: Method,
    request: LinkRequest,
    names: readonly Name[],
  ): (Record<Name, string> & Counted) | undefined {
    if (request.query.organization === undefined) {
      const signed = verifyTerms(method, request, names);
      return signed && { ...signed, countedBy: request.guid };
    }
    const signed = verifyTerms(method, request, [...names, 'organization' as const]);
    return signed && { ...signed, countedBy: signed.organization };
  }

  function verifyTerms<Name extends string>(
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
    uploadUrl({ contentType, maxBytes, expiresAt, ...owned }: UploadTerms & LinkOwner): string {
      const terms = {
        content_type: contentType,
        max_bytes: String(maxBytes),
        expires: millisecondsOf(expiresAt),
      };
      return linkTo('PUT', owned, terms);
    },

    downloadUrl({ filename, contentType, expiresAt, ...owned }: DownloadTerms & LinkOwner): string {
      return linkTo('GET', owned, {
        filename,
        content_type: contentType,
        expires: millisecondsOf(expiresAt),
      });
    },

    /**
     * Checks the signature first, because nothing else in the URL can be trusted before. The route checks
     * Content-Length.
     */
    checkUpload(request: UploadRequest): (UploadTerms & Counted) | Failure {
      const signed = verify('PUT', request, ['content_type', 'max_bytes', 'expires']);
      if (!signed) return new Failure('signature_invalid', SIGNATURE_INVALID);
      const expiresAt = new Date(Number(signed.expires));
      if (hasExpired(expiresAt))
        return new Failure('upload_expired', 'The upload URL has expired; create a new file');
      const contentType = signed.content_type;
      if (request.contentType?.toLowerCase() !== contentType)
        return new Failure(
          'content_type_mismatch',
          `Content-Type must be ${contentType}, the content_type of the file`,
        );
      const { countedBy } = signed;
      return { guid: request.guid, contentType, maxBytes: Number(signed.max_bytes), expiresAt, countedBy };
    },

    /** Also for HEAD, which reveals less than the GET that the link permits. */
    checkDownload(request: LinkRequest): (DownloadTerms & Counted) | Failure {
      const signed = verify('GET', request, ['filename', 'content_type', 'expires']);
      if (!signed) return new Failure('signature_invalid', SIGNATURE_INVALID);
      const expiresAt = new Date(Number(signed.expires));
      if (hasExpired(expiresAt))
        return new Failure(
          'download_expired',
          'The download URL has expired; get a new one with include_download_url=true',
        );
      const { filename, content_type: contentType, countedBy } = signed;
      return { guid: request.guid, filename, contentType, expiresAt, countedBy };
    },
  };
}

type Method = 'PUT' | 'GET';
const PATHS = { PUT: 'uploads', GET: 'downloads' } as const satisfies Record<Method, string>;

const SIGNATURE_PATTERN = /^[0-9a-f]{64}$/;
const SIGNATURE_INVALID = 'The signature of the URL is invalid; use the URL exactly as returned';

function millisecondsOf(moment: Date): string {
  return String(moment.getTime());
}
