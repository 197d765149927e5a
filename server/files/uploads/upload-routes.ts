import type { FastifyRequest } from 'fastify';
import { unwrap } from '../../infrastructure/http/errors.ts';
import { answers, GuidParams } from '../../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../../infrastructure/http/server.ts';
import { Failure, isFailure } from '../../infrastructure/runtime/failure.ts';
import { isGuid } from '../../infrastructure/runtime/guid.ts';
import { CONTENT_TYPES } from '../file-types.ts';
import { UploadedView } from '../schema.ts';
import type { Links } from '../storage/links.ts';
import type { UploadTerms } from '../storage/storage.ts';
import type { Uploads } from './uploads.ts';

declare module 'fastify' {
  interface FastifyRequest {
    uploadTerms: UploadTerms;
  }
}

/** What a refused sender still sends is read and thrown away for so long, so that it gets to read the answer. */
const DRAIN_MS = 2_000;
/** Without a single byte of an upload. */
const SILENCE_MS = 30_000;
/** For how long a browser need not ask again whether it may upload. */
const PREFLIGHT_SECONDS = 86_400;

/** Whoever has the link may use it, from any page: it is the whole permission, and no cookie or token goes with it. */
export const FROM_ANYWHERE = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'x-request-id',
} as const;

/** Where the links of the folder lead. The bytes go to the disk as they come. */
export async function registerUploads(
  server: HttpServer,
  { links, uploads }: { links: Links; uploads: Uploads },
): Promise<void> {
  const tags = ['Files'];

  await server.register(async (scope: HttpServer) => {
    scope.decorateRequest('uploadTerms');
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    scope.addHook('onRequest', async (_request, reply) => void reply.headers(FROM_ANYWHERE));
    scope.addHook('onResponse', async ({ raw }) => drain(raw));

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
            'access-control-max-age': PREFLIGHT_SECONDS,
          })
          .send(),
    );

    scope.put(
      '/uploads/:guid',
      {
        config: { streamsBody: true },
        // Before anything is read of the body.
        onRequest: async (request) => {
          request.uploadTerms = unwrap(termsOf(request, links));
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
          response: answers({ 200: UploadedView }, 403, 404, 409, 411, 413, 422, 503),
        },
      },
      async (request, reply) => {
        unwrap(await received(request, uploads));
        return reply.send({ guid: request.uploadTerms.guid, state: 'storing' as const });
      },
    );
  });
}

/** What the link allows, if this request keeps to it. */
function termsOf(request: FastifyRequest, links: Links): UploadTerms | Failure {
  const { guid } = request.params as { guid: string };
  const query = request.query as Record<string, unknown>;
  if (!isGuid(guid)) return new Failure('not_found', 'There is nothing at this address');
  const terms = links.checkUpload({ guid, query, contentType: request.headers['content-type'] });
  if (isFailure(terms)) return terms;
  const length = request.headers['content-length'];
  if (length === undefined)
    return new Failure('length_required', 'Content-Length is required: send the size of the file');
  if (Number(length) > terms.maxBytes)
    return new Failure('payload_too_large', `The upload URL takes at most ${terms.maxBytes} bytes`);
  return terms;
}

async function received(
  { uploadTerms, raw }: FastifyRequest,
  uploads: Uploads,
): Promise<Failure | undefined> {
  // Node ends the connection then, unless somebody else listens for it.
  raw.setTimeout(SILENCE_MS);
  try {
    return await uploads.receive(uploadTerms, Number(raw.headers['content-length']), raw);
  } catch (error) {
    if (error !== raw.errored) throw error;
    // Nobody is there to read it, but the log and the metrics tell.
    return new Failure('invalid_parameter', 'The upload was cut off');
  }
}

/** Node reads what nobody wants once the answer is out, without an end; this is the end. */
function drain(raw: FastifyRequest['raw']): void {
  if (raw.complete) return;
  const timer = setTimeout(() => raw.destroy(), DRAIN_MS).unref();
  raw.once('close', () => clearTimeout(timer));
}
