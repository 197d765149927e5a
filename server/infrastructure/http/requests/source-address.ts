import type { FastifyRequest } from 'fastify';
import { createSourceAddress } from '../../network/source-address.ts';

/** Where a request really comes from: the socket, or what a trusted proxy says in front of it. */
export type SourceAddress = (request: FastifyRequest) => string | undefined;

export function createRequestSourceAddress(trustedProxies: readonly string[]): SourceAddress {
  const sourceOf = createSourceAddress(trustedProxies);
  return (request) => sourceOf(request.socket.remoteAddress, request.headers['x-forwarded-for']);
}
