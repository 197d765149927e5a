import type { FastifyRequest } from 'fastify';
import { createSourceAddress } from '../../network/source-address.ts';

/** The source address of a request: that of the socket, or the one that a trusted proxy forwards. */
export type SourceAddress = (request: FastifyRequest) => string | undefined;

export function createRequestSourceAddress(trustedProxies: readonly string[]): SourceAddress {
  const sourceOf = createSourceAddress(trustedProxies);
  /** Limits, logs and handlers ask in turn, also when the connection is closed. */
  const known = new WeakMap<FastifyRequest, string | undefined>();
  return (request) => {
    if (known.has(request)) return known.get(request);
    const address = sourceOf(request.socket.remoteAddress, request.headers['x-forwarded-for']);
    known.set(request, address);
    return address;
  };
}
