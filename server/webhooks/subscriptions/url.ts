import type { EnvironmentName } from '../../infrastructure/database/tables.ts';
import { Failure } from '../../infrastructure/runtime/failure.ts';

/**
 * Validates endpoint URLs. `URL` alone accepts too much: it drops line breaks, reads `\` as `/`, and finds a host in
 * `https:partner.example`, so the displayed URL could differ from the one connected to.
 */
const INVISIBLE = /[\s\p{Cc}\p{Cf}\p{Z}]/u;
const ABSOLUTE = /^https?:\/\//i;
const AUTHORITY = /^https?:\/\/([^/?#]*)/i;

/** Does not resolve the host: its address can change, so each connection is checked instead. */
export function checkUrl(url: string, environment: EnvironmentName): Failure | undefined {
  const problem = problemOf(url);
  if (problem) return new Failure('invalid_parameter', `url ${problem}`);
  if (environment === 'production' && new URL(url).protocol !== 'https:')
    return new Failure('invalid_https_url', 'url must begin with https:// in production');
  return undefined;
}

const PERCENT_ENCODED = /%[0-9a-f]{2}/gi;
/** Characters whose percent-encoding is equivalent (RFC 3986, section 6.2.2.2). */
const UNRESERVED = /[A-Za-z0-9\-._~]/;

/**
 * Normalizes a URL for comparison: the WHATWG form (lowercase host, no default port, no dot segments), without the
 * trailing dot of the host and an empty query, and with one form of percent-encoding.
 */
export function normalisedUrl(url: string): string {
  const parsed = new URL(url);
  parsed.hostname = parsed.hostname.replace(/\.$/, '');
  const encoded = parsed.href.replace(PERCENT_ENCODED, (triplet) => {
    const character = String.fromCharCode(Number.parseInt(triplet.slice(1), 16));
    return UNRESERVED.test(character) ? character : triplet.toUpperCase();
  });
  return encoded.replace(/\?$/, '');
}

function problemOf(url: string): string | undefined {
  if (INVISIBLE.test(url)) return 'must not contain spaces, line breaks or control characters';
  if (url.includes('\\')) return 'must not contain a backslash';
  if (!ABSOLUTE.test(url)) return 'must be absolute and begin with https:// or http://';
  if (url.includes('#')) return 'must not contain a fragment';
  const authority = AUTHORITY.exec(url)?.[1] ?? '';
  if (authority.includes('@')) return 'must not contain credentials';
  if (authority === '' || authority.startsWith(':')) return 'must name a host';
  return URL.canParse(url) ? undefined : 'is not a valid URL';
}
