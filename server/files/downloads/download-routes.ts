import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { FailureError, unwrap } from '../../infrastructure/http/errors.ts';
import {
  IfNoneMatchHeaders,
  readIfNoneMatch,
} from '../../infrastructure/http/preconditions/preconditions.ts';
import { answers, GuidParams } from '../../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../../infrastructure/http/server.ts';
import { Failure } from '../../infrastructure/runtime/failure.ts';
import type { LinkCalls } from '../link-calls.ts';
import { attachment } from '../storage/disposition.ts';
import type { Links } from '../storage/folder/links.ts';
import { ANY_ORIGIN } from '../uploads/upload-routes.ts';
import type { Uploads } from '../uploads/uploads.ts';
import { rangeOf } from './range.ts';

/** Serves the content of completed files as attachments: content from partners must never render on our origin. */
export function registerDownloads(
  server: HttpServer,
  { links, uploads, linkCalls }: { links: Links; uploads: Uploads; linkCalls: LinkCalls },
): void {
  const bytes = { content: { 'application/octet-stream': { schema: {} } } };

  server.get(
    '/downloads/:guid',
    {
      // A hook also covers HEAD, which Fastify derives from this route.
      onRequest: async (_request, reply) => void reply.headers(ANY_ORIGIN),
      schema: {
        operationId: 'downloadFile',
        summary: 'Download a file from its download_url; supports ranges',
        tags: ['Files'],
        params: GuidParams,
        headers: IfNoneMatchHeaders,
        response: answers({ 200: bytes, 206: bytes, 304: { type: 'null' } }, 400, 403, 404, 416, 429, 503),
      },
    },
    async (request, reply) => {
      const { guid } = request.params;
      const terms = unwrap(links.checkDownload({ guid, query: request.query as Record<string, unknown> }));
      const isKnown = readIfNoneMatch(request);
      const call = linkCalls.enter(terms.countedBy, reply);
      const { size, sha256 } = unwrap(await call.run(() => uploads.findCompleted(guid)));
      const etag = `"${sha256}"`;
      if (isKnown(etag)) return reply.code(304).header('etag', etag).send();
      const range = rangeFor(request, etag, size);
      if (range === 'unsatisfiable') {
        reply.header('content-range', `bytes */${size}`);
        throw new FailureError(
          new Failure('range_not_satisfiable', `The range must start within the ${size} bytes of the file`),
        );
      }
      const content = request.method === 'HEAD' ? Readable.from([]) : unwrap(await uploads.read(guid, range));
      if (!content) throw new FailureError(new Failure('not_found', 'There is no such file'));
      reply.headers({
        'content-type': terms.contentType,
        'content-length': range ? range.end - range.start + 1 : size,
        'content-disposition': attachment(terms.filename),
        'accept-ranges': 'bytes',
        etag,
      });
      if (range) reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${size}`);
      return reply.send(content);
    },
  );
}

/** `If-Range` limits the range to the version that the client already has a part of (RFC 9110, section 13.1.5). */
function rangeFor({ headers }: FastifyRequest, etag: string, size: number) {
  const ifRange = headers['if-range'];
  return ifRange === undefined || ifRange === etag ? rangeOf(headers.range, size) : undefined;
}
