import type { FastifyRequest } from 'fastify';
import type { Failure } from '../../runtime/failure.ts';
import { answerFor, FailureError } from '../errors.ts';
import { type HttpServer, sendError } from '../server.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** From the moment the body is read until another part counts the request. */
    refusalCounts: boolean;
  }
}

type RefusalLimit = {
  /** Answers from memory whether the limit is exhausted. */
  blocked(request: FastifyRequest): Failure | undefined;
  count(request: FastifyRequest): Promise<Failure | undefined>;
};

/**
 * Routes without authentication read and parse bodies of any caller. A rejected body (too large, malformed, too many
 * keys, missing fields, late) counts against the rate limit once, and a source over its limit is rejected before its
 * body is read. GET and HEAD are exempt.
 */
export function countRefusals(scope: HttpServer, { blocked, count }: RefusalLimit): void {
  scope.decorateRequest('refusalCounts', false);

  scope.addHook('onRequest', (request, _reply, done) => {
    const failure = takesBody(request) ? blocked(request) : undefined;
    done(failure && new FailureError(failure));
  });

  scope.addHook('preParsing', (request, _reply, payload, done) => {
    request.refusalCounts = takesBody(request);
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

function takesBody({ method }: FastifyRequest): boolean {
  return method !== 'GET' && method !== 'HEAD';
}

/** A server error does not count against the caller. */
function isOurFault(error: Error): boolean {
  return error instanceof FailureError && answerFor(error.failure).status >= 500;
}
