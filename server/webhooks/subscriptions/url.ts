import type { EnvironmentName } from '../../infrastructure/database/tables.ts';
import { Failure } from '../../infrastructure/runtime/failure.ts';

/**
 * What may be an endpoint. `URL` alone accepts too much: it drops line breaks, takes `\` for `/`, and finds a host in
 * `https:partner.example`. Whoever reads the address later should see in it what the connection will see.
 */
const UNSEEN = /[\s\p{Cc}\p{Cf}\p{Z}]/u;
const ABSOLUTE = /^https?:\/\//i;
const AUTHORITY = /^https?:\/\/([^/?#]*)/i;

/** Its host is not looked up here: what a name stands for can change, so each connection is checked instead. */
export function checkUrl(url: string, environment: EnvironmentName): Failure | undefined {
  const problem = problemOf(url);
  if (problem) return new Failure('invalid_parameter', `url ${problem}`);
  if (environment === 'production' && new URL(url).protocol !== 'https:')
    return new Failure('invalid_https_url', 'url must be https in production');
  return undefined;
}

const PERCENT_ENCODED = /%[0-9a-f]{2}/gi;
/** Characters that mean the same encoded and not (RFC 3986, section 6.2.2.2). */
const UNRESERVED = /[A-Za-z0-9\-._~]/;

/**
 * One spelling for URLs that reach the same endpoint, to compare them by: as WHATWG URL writes it (host in lowercase, no
 * default port, no dot segments), without the root's dot after the host, without an empty query, and with one form of
 * percent-encoding.
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
  if (UNSEEN.test(url)) return 'must not contain spaces, line breaks or control characters';
  if (url.includes('\\')) return 'must not contain a backslash';
  if (!ABSOLUTE.test(url)) return 'must be absolute and begin with https:// or http://';
  if (url.includes('#')) return 'must not have a fragment';
  const authority = AUTHORITY.exec(url)?.[1] ?? '';
  if (authority.includes('@')) return 'must not contain credentials';
  if (authority === '' || authority.startsWith(':')) return 'must name a host';
  return URL.canParse(url) ? undefined : 'is not a valid address';
}
