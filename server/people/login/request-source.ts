import type { FastifyRequest } from 'fastify';
import type { Actor } from '../../infrastructure/audit/service.ts';
import type { SourceAddress } from '../../infrastructure/http/requests/source-address.ts';

/** Client of a dashboard request, as sessions and audit records store it. */
export type RequestSource = {
  address: string | undefined;
  userAgent: string | undefined;
  requestId: string;
};

export function createSourceOf(sourceAddress: SourceAddress) {
  return (request: FastifyRequest): RequestSource => ({
    address: sourceAddress(request),
    userAgent: request.headers['user-agent'],
    requestId: request.id,
  });
}

export function userActor(memberGuid: string, { address, requestId }: RequestSource): Actor {
  return { type: 'user', id: memberGuid, address, requestId };
}
