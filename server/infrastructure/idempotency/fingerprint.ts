import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';

/**
 * Identifies the operation and its body, whatever the order of the fields. A long text is hashed in pieces with a yield to
 * the event loop after each, so that a large file does not block other requests.
 */
export async function fingerprintOf({
  method,
  routeOptions,
  params,
  body,
  longText,
}: FastifyRequest): Promise<Buffer> {
  const hash = createHash('sha256');
  hash.update(JSON.stringify([method, routeOptions.url, params, body], withSortedFields));
  for (const piece of longText?.pieces() ?? []) {
    hash.update(piece);
    await setImmediate();
  }
  return hash.digest();
}

function withSortedFields(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}
