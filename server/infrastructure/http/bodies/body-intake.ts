import type { FastifyInstance, FastifyRequest } from 'fastify';
import { networkOf } from '../../rate-limits/address.ts';
import type { SourceAddress } from '../requests/source-address.ts';
import { whenClosed } from '../requests/when-closed.ts';
import { announcesBody } from './body-time.ts';
import type { BodyBudget, BodySource } from './budget/body-budget.ts';
import { keepForRest } from './discard-rest.ts';
import { isStopped, startReading, stopReading } from './read-body.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The key of an authenticated caller in the body budget. Without it, the body counts for the caller's network. */
    bodySource: string | undefined;
  }
}

/** Counts each request body in the budget until its response has ended or its connection has closed. */
export function shareBodyBudget(
  server: FastifyInstance,
  { bodyBudget, sourceAddress }: { bodyBudget: BodyBudget; sourceAddress: SourceAddress },
): void {
  server.decorateRequest('bodySource');
  server.decorateRequest('bodyIntake');

  server.addHook('preParsing', (request, reply, payload, done) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      const share = bodyBudget.open(sourceOf(request, sourceAddress));
      request.bodyIntake = { share, reply };
      whenClosed(reply, share.release);
    }
    done(null, payload);
  });

  // In chunked encoding every byte may be a chunk with its own callback, and Node reads megabytes of them in one turn
  // of the event loop. The socket stays paused until a parser reads the body, and unread bytes are discarded with the
  // connection. The rest of a body with Content-Length is read: many clients read the response only after they have sent
  // the body, and a proxy would answer 502.
  server.addHook('onRequest', (request, _reply, done) => {
    if (isChunked(request)) stopReading(request);
    done();
  });
  server.addHook('onSend', (request, reply, _payload, done) => {
    if (isChunked(request) && request.raw.complete) startReading(request);
    else if (isChunked(request)) {
      stopReading(request);
      reply.header('connection', 'close');
    } else if (!request.raw.complete && announcesBody(request) && !isStopped(request))
      keepForRest(request, reply);
    done();
  });
}

function sourceOf(request: FastifyRequest, sourceAddress: SourceAddress): BodySource {
  const { bodySource, routeOptions } = request;
  if (bodySource === undefined) return { key: networkOf(sourceAddress(request)), kind: 'anonymous' };
  return { key: bodySource, kind: routeOptions.config.longText === undefined ? 'call' : 'long text' };
}

function isChunked({ raw }: FastifyRequest): boolean {
  return raw.headers['transfer-encoding'] !== undefined;
}
