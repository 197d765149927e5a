import type { FastifyRequest } from 'fastify';
import type { Failure } from '../../runtime/failure.ts';
import { answerFor, FailureError } from '../errors.ts';
import { type HttpServer, sendError } from '../server.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** From the moment its body is read until something else counts the request. */
    refusalCounts: boolean;
  }
}

type RefusalLimit = {
  /** From memory alone: whether the limit is used up. */
  blocked(request: FastifyRequest): Failure | undefined;
  count(request: FastifyRequest): Promise<Failure | undefined>;
};

/**
 * Where anybody may call, reading and parsing a body is work that somebody else decides on. A body that is refused
 * (too large, malformed, too many keys, missing fields, late) counts against the limit, once. A source that has used
 * the limit up is refused before its body is read.
 */
export function countRefusals(scope: HttpServer, { blocked, count }: RefusalLimit): void {
  scope.decorateRequest('refusalCounts', false);

  scope.addHook('onRequest', (request, _reply, done) => {
    const failure = blocked(request);
    done(failure && new FailureError(failure));
  });

  scope.addHook('preParsing', (request, _reply, payload, done) => {
    request.refusalCounts = request.method !== 'GET';
    done(null, payload);
  });

  scope.setErrorHandler(async (error: Error, request, reply) => {
    const isCounted = request.refusalCounts && !isOurFault(error);
    request.refusalCounts = false;
    const exhausted = isCounted ? await count(request) : undefined;
    sendError(exhausted ? new FailureError(exhausted) : error, request, reply);
    return reply;
  });
}

/** An overload is no reason to refuse a caller for the next minutes as well. */
function isOurFault(error: Error): boolean {
  return error instanceof FailureError && answerFor(error.failure).status >= 500;
}
