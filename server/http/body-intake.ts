import type { FastifyRequest } from 'fastify';
import { countedAddress } from '../rate-limits/address.ts';
import type { BodyBudget, BodySource } from './body-budget.ts';
import type { HttpServer } from './server.ts';
import type { SourceAddress } from './source-address.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whose share of the budget a body takes, set by what authenticates; without it, that of its address. */
    bodySource: string | undefined;
  }
}

/** Every body that is read has its share of the budget until its request is over, however that ends. */
export function shareBodyBudget(
  server: HttpServer,
  { bodyBudget, sourceAddress }: { bodyBudget: BodyBudget; sourceAddress: SourceAddress },
): void {
  server.decorateRequest('bodySource');
  server.decorateRequest('bodyIntake');

  server.addHook('preParsing', (request, reply, payload, done) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      const share = bodyBudget.open(sourceOf(request, sourceAddress));
      request.bodyIntake = { share, reply };
      reply.raw.once('close', share.release);
    }
    done(null, payload);
  });

  // A peer that sends its body byte by byte goes on costing a call for each of them after the answer. Only chunked
  // encoding allows that, so only there the connection ends.
  server.addHook('onSend', (request, reply, _payload, done) => {
    if (hasUnreadChunks(request)) reply.header('connection', 'close');
    done();
  });
}

function sourceOf(request: FastifyRequest, sourceAddress: SourceAddress): BodySource {
  const { bodySource } = request;
  return bodySource === undefined
    ? { key: countedAddress(sourceAddress(request)), isAnonymous: true }
    : { key: bodySource, isAnonymous: false };
}

function hasUnreadChunks({ raw }: FastifyRequest): boolean {
  return raw.headers['transfer-encoding'] !== undefined && !raw.complete;
}
