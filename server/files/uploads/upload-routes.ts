import type { FastifyRequest } from 'fastify';
import { discardRest } from '../../infrastructure/http/bodies/discard-rest.ts';
import { unwrap } from '../../infrastructure/http/errors.ts';
import type { Call } from '../../infrastructure/http/limits/calls-in-flight.ts';
import { answers, GuidParams } from '../../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../../infrastructure/http/server.ts';
import type { Timers } from '../../infrastructure/runtime/clock.ts';
import { Failure, isFailure } from '../../infrastructure/runtime/failure.ts';
import { isGuid } from '../../infrastructure/runtime/guid.ts';
import { CONTENT_TYPES } from '../file-types.ts';
import type { LinkCalls } from '../link-calls.ts';
import { UploadedView } from '../schema.ts';
import type { Counted, Links } from '../storage/folder/links.ts';
import type { UploadTerms } from '../storage/storage.ts';
import { tooLargeMessage, type Uploads } from './uploads.ts';

declare module 'fastify' {
  interface FastifyRequest {
    uploadTerms: UploadTerms;
    uploadCall: Call;
  }
}

/** The rest of a refused upload is discarded for this long, so that the client can read the response. */
const DISCARD_MS = 2_000;
/** Without any byte of an upload. */
const IDLE_TIMEOUT_MS = 30_000;
const PREFLIGHT_MAX_AGE_SECONDS = 86_400;

/** CORS for any origin: the link alone is the permission, without cookies or tokens. */
export const ANY_ORIGIN = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'x-request-id, retry-after, etag, content-range',
} as const;

/** Serves the links of folder storage. Content is streamed to disk. */
export async function registerUploads(
  server: HttpServer,
  {
    links,
    uploads,
    linkCalls,
    timers,
  }: { links: Links; uploads: Uploads; linkCalls: LinkCalls; timers: Timers },
): Promise<void> {
  const tags = ['Files'];

  await server.register(async (scope: HttpServer) => {
    scope.decorateRequest('uploadTerms');
    scope.decorateRequest('uploadCall');
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    scope.addHook('onRequest', async (_request, reply) => void reply.headers(ANY_ORIGIN));
    scope.addHook('onResponse', async (request) => discardRest(request, timers, DISCARD_MS));

    scope.options(
      '/uploads/:guid',
      {
        schema: {
          operationId: 'preflightUpload',
          summary: 'Answer the CORS preflight request of an upload',
          tags,
          params: GuidParams,
          response: answers({ 204: { type: 'null' } }, 404),
        },
      },
      async (_request, reply) =>
        reply
          .code(204)
          .headers({
            'access-control-allow-methods': 'PUT',
            'access-control-allow-headers': '*',
            'access-control-max-age': PREFLIGHT_MAX_AGE_SECONDS,
          })
          .send(),
    );

    scope.put(
      '/uploads/:guid',
      {
        config: { streamsBody: true },
        // Before any of the body is read.
        onRequest: async (request, reply) => {
          const terms = unwrap(termsOf(request, links));
          request.uploadTerms = terms;
          request.uploadCall = linkCalls.enter(terms.countedBy, reply);
        },
        schema: {
          operationId: 'uploadFile',
          summary: 'Upload the content of a file to its upload_url',
          description:
            'Send the raw bytes with Content-Length and the content_type of the file as Content-Type. The URL needs ' +
            'no token and works once; an interrupted upload can be repeated until upload_expires_at. ' +
            'A second upload at the same time returns 409 upload_in_progress with Retry-After.',
          tags,
          params: GuidParams,
          body: { content: Object.fromEntries(CONTENT_TYPES.map((type) => [type, { schema: {} }])) },
          response: answers({ 200: UploadedView }, 403, 404, 409, 411, 413, 422, 429, 503),
        },
      },
      async (request, reply) => {
        unwrap(await receive(request, uploads));
        return reply.send({ guid: request.uploadTerms.guid, state: 'storing' as const });
      },
    );
  });
}

/** The terms of the link, or why this request violates them. */
function termsOf(request: FastifyRequest, links: Links): (UploadTerms & Counted) | Failure {
  const { guid } = request.params as { guid: string };
  const query = request.query as Record<string, unknown>;
  if (!isGuid(guid)) return new Failure('not_found', 'No resource exists at this URL');
  const terms = links.checkUpload({ guid, query, contentType: request.headers['content-type'] });
  if (isFailure(terms)) return terms;
  const length = request.headers['content-length'];
  if (length === undefined)
    return new Failure(
      'length_required',
      'The header Content-Length is required, with the size of the file in bytes',
    );
  if (Number(length) > terms.maxBytes) return new Failure('payload_too_large', tooLargeMessage(terms));
  return terms;
}

async function receive(
  { uploadTerms, uploadCall, raw }: FastifyRequest,
  uploads: Uploads,
): Promise<Failure | undefined> {
  // Node destroys the connection on this timeout unless another listener handles it.
  raw.setTimeout(IDLE_TIMEOUT_MS);
  try {
    return await uploads.receive(uploadTerms, Number(raw.headers['content-length']), raw, uploadCall.run);
  } catch (error) {
    if (error !== raw.errored) throw error;
    // The client is gone; this is for the log and the metrics.
    return new Failure('invalid_parameter', 'The upload ended before Content-Length');
  }
}
