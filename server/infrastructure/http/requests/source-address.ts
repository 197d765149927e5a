import type { FastifyRequest } from 'fastify';
import { createSourceAddress } from '../../network/source-address.ts';

/** The source address of a request: that of the socket, or the one that a trusted proxy forwards. */
export type SourceAddress = (request: FastifyRequest) => string | undefined;

export function createRequestSourceAddress(trustedProxies: readonly string[]): SourceAddress {
  const sourceOf = createSourceAddress(trustedProxies);
  return (request) => sourceOf(request.socket.remoteAddress, request.headers['x-forwarded-for']);
}
