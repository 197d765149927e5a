import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Failure } from '../../runtime/failure.ts';
import { FailureError } from '../errors.ts';
import { SMALL_BODY_BYTES, stopReading } from './read-body.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route reads its body itself and enforces its own timeout. */
    streamsBody?: boolean;
  }
}

type BodyTimes = {
  /** For routes that accept small bodies only, which includes all routes for anonymous callers. */
  smallMs: number;
  largeMs: number;
};

/** Node has one request timeout per server, and it must be long enough for the largest upload. */
export function limitBodyTime(server: FastifyInstance, { smallMs, largeMs }: BodyTimes): void {
  server.addHook('onRequest', (request, reply, done) => {
    const { bodyLimit = 0, config } = request.routeOptions;
    if (announcesBody(request) && !config.streamsBody)
      expectWithin(bodyLimit > SMALL_BODY_BYTES ? largeMs : smallMs, request, reply);
    done();
  });
}

export function announcesBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function expectWithin(ms: number, request: FastifyRequest, reply: FastifyReply): void {
  const { raw } = request;
  const timer = setTimeout(() => {
    // The body is complete and waits for authentication.
    if (raw.complete) return;
    // The rest of a body that was already answered is not read.
    if (reply.sent) raw.destroy();
    else {
      stopReading(request);
      reply.header('connection', 'close');
      reply.send(
        new FailureError(
          new Failure('request_timeout', 'The request body did not arrive in time; send it again'),
        ),
      );
    }
  }, ms).unref();
  const arrived = () => clearTimeout(timer);
  raw.once('end', arrived).once('close', arrived);
}
