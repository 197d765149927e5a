import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { readBody } from '../../infrastructure/http/bodies/read-body.ts';
import { FailureError, unwrap } from '../../infrastructure/http/errors.ts';
import { type Call, createCallsInFlight } from '../../infrastructure/http/limits/calls-in-flight.ts';
import { strictObject } from '../../infrastructure/http/requests/schemas.ts';
import type { SourceAddress } from '../../infrastructure/http/requests/source-address.ts';
import { whenClosed } from '../../infrastructure/http/requests/when-closed.ts';
import type { HttpServer } from '../../infrastructure/http/server.ts';
import type { Clock, Timers } from '../../infrastructure/runtime/clock.ts';
import { Failure } from '../../infrastructure/runtime/failure.ts';
import { SLOW_MS } from './answers.ts';
import { createHeldAnswers } from './held-answers.ts';
import type { InboxReceiving, ReceivingInbox } from './receiving.ts';

declare module 'fastify' {
  interface FastifyRequest {
    inbox: ReceivingInbox;
    inboxCall: Call;
  }
}

const MAX_BODY_BYTES = 64 * 1024;
/** Longer than a delivery waits. */
const HANG_MS = 30_000;
const RETRY_AFTER_SECONDS = 1;
/** Of one Organization: what five endpoints get at once. */
const MAX_IN_FLIGHT = 320;
/** Of one Organization: a flood at its inboxes leaves the connections to others. */
const MAX_STORED_AT_ONCE = 1;

/** The URLs of inboxes: no token, any content type. */
export async function registerInboxReceiving(
  server: HttpServer,
  {
    inboxReceiving,
    sourceAddress,
    clock,
    timers,
  }: { inboxReceiving: InboxReceiving; sourceAddress: SourceAddress; clock: Clock; timers: Timers },
): Promise<void> {
  const heldAnswers = createHeldAnswers({ timers });
  const callsInFlight = createCallsInFlight({
    maxInFlight: MAX_IN_FLIGHT,
    maxRunning: { list: MAX_STORED_AT_ONCE, other: MAX_STORED_AT_ONCE },
    clock,
    timers,
  });

  async function answer(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { organization_guid: organizationGuid, answer: chosen } = request.inbox;
    const { socket } = request.raw;
    if (chosen === 'slow' || chosen === 'hang') {
      const held = heldAnswers.hold(organizationGuid, chosen === 'slow' ? SLOW_MS : HANG_MS, socket);
      if (!held) throw new FailureError(tooManyHeld());
      await held;
    }
    if (chosen === 'hang' || chosen === 'refuse') {
      reply.hijack();
      socket.destroy();
      return reply;
    }
    return reply.code(chosen === 'error' ? 500 : 200).send({ answer: chosen });
  }

  await server.register(async (scope: HttpServer) => {
    scope.decorateRequest('inbox');
    scope.decorateRequest('inboxCall');
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (request, payload, done) => {
      const chunks: Buffer[] = [];
      readBody({
        ...{ request, payload, pace: scope.bodyPace },
        write: (chunk) => void chunks.push(chunk),
        done: (failure) => done(failure ? new FailureError(failure) : null, Buffer.concat(chunks)),
      });
    });
    scope.addHook('preClose', async () => heldAnswers.close());

    scope.post(
      '/portico-inbox/:token',
      {
        bodyLimit: MAX_BODY_BYTES,
        // A delayed answer says nothing about the service.
        config: { isStream: true },
        schema: { hide: true, params: strictObject({ token: Type.String() }) },
        onRequest: async (request, reply) => {
          const { token } = request.params as { token: string };
          request.inbox = unwrap(await inboxReceiving.admit(token));
          const { organization_guid: organizationGuid } = request.inbox;
          request.bodySource = `inboxes ${organizationGuid}`;
          request.inboxCall = unwrap(callsInFlight.enter(organizationGuid, 'other'));
          whenClosed(reply, request.inboxCall.close);
        },
      },
      async (request, reply) => {
        const { inbox, inboxCall, raw, headers, body } = request;
        const received = {
          ...{ headers, rawHeaders: raw.rawHeaders, address: sourceAddress(request as FastifyRequest) },
          body: (body as Buffer | undefined) ?? Buffer.alloc(0),
        };
        unwrap(await inboxCall.run(() => inboxReceiving.keep(inbox, received)));
        // A held answer needs nothing of the database.
        inboxCall.close();
        return answer(request as FastifyRequest, reply);
      },
    );
  });
}

function tooManyHeld(): Failure {
  return new Failure('overloaded', 'Too many delayed answers of inboxes; try again later', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
