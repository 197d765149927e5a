import type { FastifyRequest } from 'fastify';

/** The router removes the origin of a request target in absolute form the same way (RFC 9112, section 3.2.2). */
const ORIGIN = /^https?:\/\/.*?\//i;
const QUERY = /[?#]/;

/**
 * The router decodes a path before it matches, so `/%6fperator` would bypass a proxy rule for `/operator`. Only
 * parameters may be percent-encoded.
 */
export function hasEncodedFixedSegment({ url, routeOptions }: FastifyRequest): boolean {
  if (routeOptions.url === undefined || !url.includes('%')) return false;
  const [path = ''] = url.replace(ORIGIN, '/').split(QUERY, 1);
  if (!path.includes('%')) return false;
  const given = path.split('/');
  for (const [index, segment] of routeOptions.url.split('/').entries()) {
    if (segment.startsWith('*')) return false;
    if (!segment.startsWith(':') && given[index]?.includes('%')) return true;
  }
  return false;
}
