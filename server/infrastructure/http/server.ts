import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type HookHandlerDoneFunction,
  LogController,
  type RawReplyDefaultExpression,
  type RawRequestDefaultExpression,
  type RawServerDefault,
} from 'fastify';
import { failureOfDatabase } from '../database/failures.ts';
import { Overloaded } from '../runtime/batcher.ts';
import { Failure } from '../runtime/failure.ts';
import type { Guids } from '../runtime/guid.ts';
import type { Log } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { registerJsonBody } from './bodies/body.ts';
import { shareBodyBudget } from './bodies/body-intake.ts';
import { type BodyPace, createBodyPace } from './bodies/body-pace.ts';
import { limitBodyTime } from './bodies/body-time.ts';
import type { BodyBudget } from './bodies/budget/body-budget.ts';
import { failureOfUrl } from './bodies/unsupported-characters.ts';
import { challengeFor } from './challenge.ts';
import {
  answerFor,
  FailureError,
  failureOfFramework,
  failureOfRefusedValue,
  oauthFailure,
} from './errors.ts';
import { createPipeliningLimit } from './limits/pipelining.ts';
import { collectAllowedMethods } from './requests/allowed-methods.ts';
import { createBrokenRequestAnswer } from './requests/broken-request.ts';
import { hasEncodedFixedSegment } from './requests/fixed-segments.ts';
import { failureOfHost } from './requests/host.ts';
import { createSerializerFactory } from './requests/serialization.ts';
import type { SourceAddress } from './requests/source-address.ts';
import {
  createValidatorCompiler,
  failureOfValidation,
  type ValidationContext,
} from './requests/validation.ts';
import { securityHeaders } from './security-headers.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Sends errors in the format of RFC 6749, section 5.2. */
    oauth?: boolean;
    /** A stream, whose duration is left out of the request metrics. */
    isStream?: boolean;
  }
  interface FastifyInstance {
    bodyPace: BodyPace;
  }
  interface FastifyRequest {
    /** A fixed segment of the path is percent-encoded, so that no route matches. */
    hasEncodedSegment: boolean;
    /** `message_code` of the error that was sent. */
    messageCode: string | undefined;
  }
}

export type HttpServer = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

/** Only an upload comes near this; an import of an Organization has no such limit. */
const REQUEST_TIMEOUT_MS = 3_600_000;
const HEADERS_TIMEOUT_MS = 30_000;
const BODY_TIMEOUT_MS = 30_000;
/** A body of 16 KiB is a few packets; a slow one occupies the budget of anonymous callers. */
export const SMALL_BODY_TIMEOUT_MS = 5_000;
/** Longer than the idle timeout of common load balancers (60 s), so that they close the connection first. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000;
/** Closes connections without traffic, so that unread responses do not fill the memory. */
const SILENCE_TIMEOUT_MS = 120_000;
/** For routes without a limit of their own: anonymous callers can send small bodies only. */
const MAX_BODY_BYTES = 16 * 1024;
const MAX_HEADER_BYTES = 16 * 1024;
/** No path is longer, so each route validates its parameters itself, after authentication. */
const MAX_PATH_PARAMETER_CHARACTERS = MAX_HEADER_BYTES;

const NODE_OPTIONS = {
  maxHeaderSize: MAX_HEADER_BYTES,
  headersTimeout: HEADERS_TIMEOUT_MS,
  // Two Authorization headers become a malformed one, instead of the second being dropped silently.
  joinDuplicateHeaders: true,
  // The onRequest hook rejects a missing Host with an error body; Node would send none.
  requireHostHeader: false,
};
const TIMEOUTS = {
  requestTimeout: REQUEST_TIMEOUT_MS,
  keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
  timeout: SILENCE_TIMEOUT_MS,
};

export type HttpServerDeps = {
  baseUrl: string;
  guids: Guids;
  log: Log;
  metrics: Metrics;
  bodyBudget: BodyBudget;
  sourceAddress: SourceAddress;
  /** A page for people who open an unknown URL in a browser. */
  sendUnknownPage?: ((reply: FastifyReply) => void) | undefined;
};

/** Limits, request ids, headers, validation and error handling of every route. */
export function createHttpServer(deps: HttpServerDeps): HttpServer {
  const { baseUrl, guids, log, metrics, sourceAddress, sendUnknownPage } = deps;
  const headers = securityHeaders(baseUrl);
  const pipelining = createPipeliningLimit();
  const unlimitedBodies = new WeakSet<Socket>();
  const server = Fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    // One log for all requests: a child logger per request took 7 % of the time of a call.
    childLoggerFactory: (logger) => logger,
    genReqId: () => guids.next(),
    bodyLimit: MAX_BODY_BYTES,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    serverFactory: (serve) => pipelining.createServer(serve, NODE_OPTIONS, TIMEOUTS),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: MAX_PATH_PARAMETER_CHARACTERS },
    schemaController: { compilersFactory: { buildSerializer: createSerializerFactory() } },
    // Both run before the hooks, so they set the headers themselves.
    frameworkErrors: (error, request, reply) => {
      reply.headers({ ...headers, 'x-request-id': request.id });
      sendError(error, request, reply);
    },
    clientErrorHandler: createBrokenRequestAnswer({
      headers: () => ({ ...headers, 'x-request-id': guids.next() }),
      unlimitedBodies,
      canSendError: pipelining.canSendError,
    }),
  }).withTypeProvider<TypeBoxTypeProvider>();

  server.decorateRequest('hasEncodedSegment', false);
  server.decorateRequest('messageCode');
  server.setValidatorCompiler(createValidatorCompiler());
  server.setErrorHandler(sendError);
  server.decorate('unlimitedBodies', unlimitedBodies);
  server.decorate('bodyPace', createBodyPace());
  registerJsonBody(server, server.bodyPace);
  const allowedMethods = collectAllowedMethods(server);
  function sendNotFound(request: FastifyRequest, reply: FastifyReply): void {
    const [path = '/'] = request.url.split('?', 1);
    const methods = request.hasEncodedSegment ? [] : allowedMethods(path);
    if (methods.length === 0 && sendUnknownPage && isOpenedByPerson(request, path)) sendUnknownPage(reply);
    else sendRefusal(request, reply, methods);
  }
  server.setNotFoundHandler(sendNotFound);

  // An expectation other than 100-continue may be ignored (RFC 9110, section 10.1.1); Node would respond without a
  // body.
  server.server.on('checkExpectation', pipelining.limited(server.routing));

  // Before the first refusal: the rest of a refused body is read for so long at most.
  limitBodyTime(server, { smallMs: SMALL_BODY_TIMEOUT_MS, largeMs: BODY_TIMEOUT_MS });
  server.addHook('onRequest', (request, reply, done) => {
    // Read while it is known: a closed socket has no address, and an allowlist would deny the call.
    sourceAddress(request);
    reply.headers(headers);
    reply.header('x-request-id', request.id);
    request.hasEncodedSegment = hasEncodedFixedSegment(request);
    const failure = failureOfHost(request);
    // Before the body is read.
    if (request.hasEncodedSegment) reply.callNotFound();
    else if (request.is404 && !failure) sendNotFound(request, reply);
    else proceed(failure, done);
  });
  shareBodyBudget(server, deps);
  server.addHook('preValidation', (request, _reply, done) => {
    proceed(failureOfUrl(request.url, request.params as object, request.query as object), done);
  });
  // A client that keeps its connection open would otherwise delay the shutdown.
  let closing = false;
  server.addHook('preClose', (done) => {
    closing = true;
    done();
  });
  server.addHook('onSend', (request, reply, payload, done) => {
    if (closing) reply.header('connection', 'close');
    if (request.method === 'HEAD' && payload instanceof Readable) done(null, emptied(payload));
    // For a response to HEAD without a payload Fastify sets `Content-Length: 0`, which a 304 must not have (RFC 9110,
    // section 8.6).
    else if (request.method === 'HEAD' && reply.statusCode === 304) done(null, Readable.from([]));
    else done();
  });
  server.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unknown';
    if (!request.routeOptions.config.isStream || reply.statusCode !== 200)
      metrics.requestSeconds.observe(
        { method: request.method, route, status: reply.statusCode },
        reply.elapsedTime / 1000,
      );
    request.log.debug(
      {
        request_id: request.id,
        method: request.method,
        route,
        status: reply.statusCode,
        ms: reply.elapsedTime,
      },
      'request',
    );
    done();
  });
  return server;
}

/** Fastify would read a stream to its end to answer HEAD. */
function emptied(stream: Readable): Readable {
  stream.destroy();
  return Readable.from([]);
}

function proceed(failure: Failure | undefined, done: HookHandlerDoneFunction): void {
  if (failure) done(new FailureError(failure));
  else done();
}

export function sendError(
  error: FastifyError | FailureError | Error,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const { oauth: isOAuth = false } = request.routeOptions.config;
  const plain = failureOf(error as FastifyError, { forms: isOAuth });
  const failure = isOAuth ? oauthFailure(plain) : plain;
  if (failure.code === 'internal_error')
    request.log.error({ err: error, request_id: request.id }, 'internal error');
  if (failure.code === 'database_unavailable' && !(error instanceof FailureError))
    request.log.warn({ reason: error.message, request_id: request.id }, 'database unavailable');
  // Sent as an invalid request, but a schema should have rejected it.
  if (failureOfRefusedValue(error))
    request.log.error({ err: error, request_id: request.id }, 'database rejected a value of a request');
  const { status, body } = answerFor(failure);
  request.messageCode = body.message_code;
  if (failure.retryAfterSeconds !== undefined) reply.header('retry-after', failure.retryAfterSeconds);
  const challenge = challengeFor(failure, status, request);
  if (challenge !== undefined) reply.header('www-authenticate', challenge);
  const sent = isOAuth ? { ...body, error_description: body.message } : body;
  reply.code(status).type('application/json; charset=utf-8').send(sent);
}

function failureOf(error: FastifyError | FailureError, accepted: { forms: boolean }): Failure {
  if (error instanceof FailureError) return error.failure;
  if (error.validation)
    return failureOfValidation(error.validation, error.validationContext as ValidationContext);
  if (error instanceof Overloaded)
    return new Failure('overloaded', 'The service is overloaded and changed nothing; try again later', {
      retryAfterSeconds: 1,
    });
  return (
    failureOfDatabase(error) ??
    failureOfRefusedValue(error) ??
    failureOfFramework(error, accepted) ??
    new Failure('internal_error', 'Internal error; contact support with the X-Request-Id of this response')
  );
}

/** Paths of programs get JSON even when a browser opens them. */
const PROGRAM_PATHS = /^\/(api|oauth|operator|dashboard|assets|\.well-known)(\/|$)/;

function isOpenedByPerson({ method, headers }: FastifyRequest, path: string): boolean {
  const isRead = method === 'GET' || method === 'HEAD';
  return isRead && !PROGRAM_PATHS.test(path) && String(headers.accept ?? '').includes('text/html');
}

function sendRefusal(request: FastifyRequest, reply: FastifyReply, methods: readonly string[]): void {
  if (methods.length > 0) reply.header('allow', methods.join(', '));
  const failure =
    methods.length > 0
      ? new Failure('method_not_allowed', `This URL accepts ${methods.join(', ')}`)
      : new Failure('not_found', 'No resource exists at this URL');
  sendError(new FailureError(failure), request, reply);
}
