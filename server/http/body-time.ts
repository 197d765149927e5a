import type { FastifyReply, FastifyRequest } from 'fastify';
import { Failure } from '../runtime/failure.ts';
import { FailureError } from './errors.ts';
import type { HttpServer } from './server.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Reads its body itself, and sees to it that it comes. */
    streamsBody?: boolean;
  }
}

/** Node has one limit for the requests of a server, and that one lets the longest upload through. */
export function limitBodyTime(server: HttpServer, withinMs: number): void {
  server.addHook('onRequest', (request, reply, done) => {
    if (announcesBody(request) && !request.routeOptions.config.streamsBody)
      expectWithin(withinMs, request, reply);
    done();
  });
}

function announcesBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function expectWithin(ms: number, { raw }: FastifyRequest, reply: FastifyReply): void {
  const timer = setTimeout(() => {
    // Whoever has had an answer is sending for nobody.
    if (reply.sent) raw.destroy();
    else {
      reply.header('connection', 'close');
      reply.send(new FailureError(new Failure('request_timeout', 'The request did not arrive in time')));
    }
  }, ms).unref();
  const arrived = () => clearTimeout(timer);
  raw.once('end', arrived).once('close', arrived);
}
