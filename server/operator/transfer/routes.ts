import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import {
  ControlledOrganizationView,
  viewControlledOrganization,
} from '../../credentials/organizations/schema.ts';
import { discardRest } from '../../infrastructure/http/bodies/discard-rest.ts';
import { startReading } from '../../infrastructure/http/bodies/read-body.ts';
import { liftRequestTimeout } from '../../infrastructure/http/bodies/unlimited-body.ts';
import { unwrap } from '../../infrastructure/http/errors.ts';
import { answers, Guid, GuidParams, viewSchema } from '../../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../../infrastructure/http/server.ts';
import type { Timers } from '../../infrastructure/runtime/clock.ts';
import { Failure } from '../../infrastructure/runtime/failure.ts';
import { Secret } from '../../infrastructure/runtime/secret.ts';
import { type OperatorAuthentication, operatorAccess } from '../authentication.ts';
import type { Transfers } from './service.ts';
import { TRANSFER_KEY_HEADER } from './transfer-key.ts';

export type TransferDeps = { authentication: OperatorAuthentication; transfers: Transfers; timers: Timers };

const MIN_KEY_CHARACTERS = 32;
/** The rest of a refused file is discarded for this long, so that the client can read the response. */
const DISCARD_MS = 10_000;
const OCTET_STREAM = 'application/octet-stream';
const bytes = { content: { [OCTET_STREAM]: { schema: {} } } } as const;

const ImportedOrganization = viewSchema('ImportedOrganization', {
  organization_guid: Guid,
  rows: Type.Record(Type.String(), Type.Integer(), { description: 'Imported rows by table' }),
  files: Type.Integer({ description: 'Files with content', example: 12 }),
});
const RemovedOrganization = viewSchema('RemovedOrganization', {
  removed: Type.Boolean({ description: 'False when rows are left; repeat the call' }),
  deleted_rows: Type.Integer({ example: 1_204 }),
});

/** Moving an Organization to another installation. */
export async function registerTransferRoutes(
  server: HttpServer,
  { authentication, transfers, timers }: TransferDeps,
): Promise<void> {
  const tags = ['Operator: organizations'];
  const transferKey =
    'Both installations encrypt and decrypt the file with the header Portico-Transfer-Key, a secret of at least ' +
    `${MIN_KEY_CHARACTERS} characters.`;

  server.delete(
    '/organizations/:guid/freeze',
    {
      schema: {
        ...operatorAccess('organizations unfreeze').documented,
        operationId: 'operatorUnfreezeOrganization',
        summary: 'Continue with an Organization whose import elsewhere failed',
        tags,
        params: GuidParams,
        response: answers({ 200: ControlledOrganizationView }, 401, 403, 404, 409, 413, 415),
      },
    },
    async (request, reply) => {
      const actor = authentication.actor(request as FastifyRequest);
      return reply.send(
        viewControlledOrganization(unwrap(await transfers.unfreeze(actor, request.params.guid))),
      );
    },
  );

  server.delete(
    '/organizations/:guid',
    {
      schema: {
        ...operatorAccess('organizations remove').documented,
        operationId: 'operatorRemoveOrganization',
        summary: 'Remove a frozen Organization after its import elsewhere; repeat it until removed is true',
        tags,
        params: GuidParams,
        response: answers({ 200: RemovedOrganization }, 401, 403, 404, 409, 413, 415),
      },
    },
    async (request, reply) => {
      const actor = authentication.actor(request as FastifyRequest);
      return reply.send(unwrap(await transfers.remove(actor, request.params.guid)));
    },
  );

  // PUT, because a repeated call has the same effect.
  server.put(
    '/organizations/:guid/export',
    {
      config: { isStream: true },
      schema: {
        ...operatorAccess('organizations export').documented,
        operationId: 'operatorExportOrganization',
        summary: 'Freeze an Organization and write everything of it to an encrypted file',
        description: transferKey,
        tags,
        params: GuidParams,
        response: answers({ 200: bytes }, 401, 403, 404, 409, 413, 415),
      },
    },
    async (request, reply) => {
      const key = unwrap(transferKeyOf(request as FastifyRequest));
      const actor = authentication.actor(request as FastifyRequest);
      waitLong(request as FastifyRequest);
      const file = unwrap(await transfers.export(actor, request.params.guid, key));
      const { socket } = request.raw;
      // For the bytes that wait in the connection. An injected request has no real socket.
      file.once('close', () => socket.setTimeout?.(server.server.timeout));
      return reply.type(OCTET_STREAM).send(file);
    },
  );

  await server.register(async (scope: HttpServer) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    // Node would close the connection of a refused file with the response.
    scope.addHook('onSend', async ({ raw }, reply) => {
      if (!raw.complete) reply.removeHeader('connection');
    });
    scope.addHook('onResponse', async (request) => discardRest(request, timers, DISCARD_MS));

    scope.put(
      '/import',
      {
        config: { isStream: true, streamsBody: true },
        onRequest: async (request) => unwrap(contentTypeOf(request)),
        schema: {
          ...operatorAccess('organizations import').documented,
          operationId: 'operatorImportOrganization',
          summary: 'Import an Organization from the file of an export, whole or not at all',
          description: transferKey,
          tags,
          body: bytes,
          response: answers({ 200: ImportedOrganization }, 401, 403, 408, 409, 413, 415, 503),
        },
      },
      async (request, reply) => {
        const key = unwrap(transferKeyOf(request as FastifyRequest));
        const actor = authentication.actor(request as FastifyRequest);
        liftRequestTimeout(request as FastifyRequest, reply as FastifyReply);
        startReading(request as FastifyRequest);
        return reply.send(unwrap(await transfers.import(actor, request.raw, key)));
      },
    );
  });
}

/** The server closes a connection without traffic; an export is silent during the freeze. */
function waitLong({ raw }: FastifyRequest): void {
  raw.setTimeout(0);
}

function contentTypeOf({ headers }: FastifyRequest): Failure | undefined {
  if (headers['content-type'] === OCTET_STREAM) return undefined;
  return new Failure('unsupported_media_type', `Content-Type must be ${OCTET_STREAM}`);
}

function transferKeyOf({ headers }: FastifyRequest): Secret | Failure {
  const key = headers[TRANSFER_KEY_HEADER];
  if (typeof key === 'string' && key.length >= MIN_KEY_CHARACTERS) return new Secret(key);
  return new Failure(
    'missing_parameter',
    `The header Portico-Transfer-Key is required, with a secret of at least ${MIN_KEY_CHARACTERS} characters`,
  );
}
