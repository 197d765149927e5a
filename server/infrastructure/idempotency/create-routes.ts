import type { FastifyReply, FastifyRequest } from 'fastify';
import Type, { type Static, type TObject, type TSchema } from 'typebox';
import { unwrap } from '../http/errors.ts';
import { configOf, descriptionOf, type Route } from '../http/requests/resource-routes.ts';
import { answers } from '../http/requests/schemas.ts';
import type { HttpServer } from '../http/server.ts';
import type { Failure } from '../runtime/failure.ts';
import { fingerprintOf } from './fingerprint.ts';
import { type RecordAnswer, recordNothing } from './record-answer.ts';
import type { IdempotencyKeys } from './service.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Set for scopes whose POST requests can be repeated. */
    repeatable: Repeatable;
  }
}

type Repeatable = {
  idempotencyKeys: IdempotencyKeys;
  /** Requests of different owners never share a key. */
  ownerOf(request: FastifyRequest): string;
};

type Request<Params extends TObject, Body extends TSchema> = FastifyRequest<{
  Params: Static<Params>;
  Body: Static<Body>;
}>;

const RepeatableHeaders = Type.Object({
  'Idempotency-Key': Type.Optional(
    Type.String({
      pattern: '^[ -~]{1,255}$',
      description:
        'Makes the request repeatable: within 24 hours the same key and body return the first answer. 1 to 255 printable ASCII characters, for example a random UUID',
      example: '5f0c7f0e-3b1d-4c57-9a40-0d5b6f2f9c11',
    }),
  ),
});

/** `POST /banks`: creates something. With an Idempotency-Key it happens once, however often the request is repeated. */
export function registerCreate<
  Item extends TSchema,
  Row,
  Body extends TSchema = TSchema,
  Params extends TObject = TObject,
>(
  scope: HttpServer,
  path: string,
  route: Route<Item, Row> & {
    params?: Params;
    body?: Body;
    bodyLimit?: number;
    status?: 200 | 201 | 202;
    /** Whether the answer has a secret that is shown only once; such an answer is not kept. */
    showsSecret?: true | ((row: Row) => boolean);
    create(request: Request<Params, Body>, recordAnswer: RecordAnswer<Row>): Promise<Row | Failure>;
  },
): void {
  const { item, params, body, bodyLimit, status = 201, showsSecret, errors = [] } = route;
  const { repeatable } = scope;

  function answerOf(row: Row): { status: number; body?: string } {
    const isSecret = typeof showsSecret === 'function' ? showsSecret(row) : showsSecret;
    return { status, ...(isSecret ? {} : { body: JSON.stringify(route.view(row)) }) };
  }

  async function create(request: Request<Params, Body>, reply: FastifyReply): Promise<unknown> {
    const key = request.headers['idempotency-key'] as string | undefined;
    if (key === undefined) {
      reply.code(status);
      return route.view(unwrap(await route.create(request, recordNothing)));
    }
    const keyed = { owner: repeatable.ownerOf(request), key, fingerprint: await fingerprintOf(request) };
    const outcome = unwrap(
      await repeatable.idempotencyKeys.run(keyed, (record) =>
        route.create(request, (transaction, row) => record(transaction, answerOf(row))),
      ),
    );
    if ('row' in outcome) {
      reply.code(status);
      return route.view(outcome.row);
    }
    reply.code(outcome.replayed.status).header('idempotency-replayed', 'true');
    return JSON.parse(outcome.replayed.body);
  }

  scope.post<{ Params: Static<Params>; Body: Static<Body> }>(
    path,
    {
      ...configOf(route),
      ...(bodyLimit && { bodyLimit }),
      schema: {
        ...descriptionOf(route),
        ...(showsSecret && { 'x-shows-secret': true }),
        headers: RepeatableHeaders,
        ...(params && { params }),
        ...(body && { body }),
        response: answers({ [status]: item }, 401, 403, 409, 413, 415, 422, ...errors),
      },
    },
    (request, reply) => create(request as Request<Params, Body>, reply),
  );
}
