import type { FastifyReply, FastifyRequest } from 'fastify';
import type { HttpServer } from '../infrastructure/http/server.ts';
import type { RandomBytes } from '../infrastructure/runtime/guid.ts';
import { acceptsEncoding } from './accepted-encoding.ts';
import type { DashboardFile, DashboardFiles } from './files.ts';
import { PAGES } from './pages.ts';
import { dashboardPolicy } from './policy.ts';

const NONCE_BYTES = 16;
/** The placeholder of the nonce in the page. */
const NONCE_PLACE = 'nonce-of-this-answer';
const YEAR_SECONDS = 31_536_000;

type Deps = {
  files: DashboardFiles;
  randomBytes: RandomBytes;
  /** Origins other than our own that the browser uploads files to. */
  uploadOrigins: readonly string[];
};

/** Serves the dashboard at `/`, or redirects to the reference when the dashboard is not built. */
export function registerFrontDoor(
  server: HttpServer,
  deps: {
    files: DashboardFiles | undefined;
    randomBytes: RandomBytes;
    uploadUrls: { uploadUrl: string; s3Endpoint: string | undefined };
  },
): void {
  const { files, randomBytes, uploadUrls } = deps;
  if (files === undefined) {
    server.get('/', { schema: { hide: true } }, async (_request, reply) => reply.redirect('/docs'));
    return;
  }
  const addresses = [uploadUrls.uploadUrl, uploadUrls.s3Endpoint].filter((url) => url !== undefined);
  const uploadOrigins = addresses.map((url) => new URL(url).origin);
  registerDashboard(server, { files, randomBytes, uploadOrigins });
}

function registerDashboard(server: HttpServer, { files, randomBytes, uploadOrigins }: Deps): void {
  const options = { schema: { hide: true } };

  async function sendPage(_request: FastifyRequest, reply: FastifyReply) {
    const nonce = Buffer.from(randomBytes(NONCE_BYTES)).toString('base64');
    return reply
      .header('content-security-policy', dashboardPolicy(nonce, uploadOrigins))
      .header('cross-origin-opener-policy', 'same-origin')
      .type('text/html; charset=utf-8')
      .send(files.index.replace(NONCE_PLACE, nonce));
  }

  server.get('/', options, sendPage);
  for (const page of PAGES) {
    server.get(`/${page}`, options, sendPage);
    server.get(`/${page}/*`, options, sendPage);
  }
  for (const [path, file] of files.files)
    server.get(path, options, async (request, reply) => sendFile(request, reply, file));
}

function sendFile(request: FastifyRequest, reply: FastifyReply, file: DashboardFile) {
  reply
    .header('cache-control', file.immutable ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache')
    .header('vary', 'accept-encoding')
    .header('etag', file.etag);
  if (request.headers['if-none-match'] === file.etag) return reply.code(304).send();
  const accepted = String(request.headers['accept-encoding'] ?? '');
  for (const [encoding, bytes] of file.encoded)
    if (acceptsEncoding(accepted, encoding))
      return reply.header('content-encoding', encoding).type(file.type).send(bytes);
  return reply.type(file.type).send(file.plain);
}
