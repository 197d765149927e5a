import type { FastifyReply, FastifyRequest } from 'fastify';
import type { HttpServer } from '../infrastructure/http/server.ts';
import type { RandomBytes } from '../infrastructure/runtime/guid.ts';
import { acceptsEncoding } from './accepted-encoding.ts';
import type { DashboardFile, DashboardFiles } from './files.ts';
import { PAGES } from './pages.ts';
import { dashboardPolicy, GUIDE_POLICY } from './policy.ts';

const NONCE_BYTES = 16;
/** The placeholder of the nonce in the page. */
const NONCE_PLACE = 'nonce-of-this-answer';
const YEAR_SECONDS = 31_536_000;

type PageDeps = {
  files: DashboardFiles;
  randomBytes: RandomBytes;
  uploadUrls: { uploadUrl: string; s3Endpoint: string | undefined };
};
export type SendPage = (reply: FastifyReply) => FastifyReply;

export function createSendPage({ files, randomBytes, uploadUrls }: PageDeps): SendPage {
  const addresses = [uploadUrls.uploadUrl, uploadUrls.s3Endpoint].filter((url) => url !== undefined);
  const uploadOrigins = addresses.map((url) => new URL(url).origin);
  return (reply) => {
    const nonce = Buffer.from(randomBytes(NONCE_BYTES)).toString('base64');
    return reply
      .header('content-security-policy', dashboardPolicy(nonce, uploadOrigins))
      .header('cross-origin-opener-policy', 'same-origin')
      .type('text/html; charset=utf-8')
      .send(files.index.replace(NONCE_PLACE, nonce));
  };
}

/** Serves the dashboard at `/`, or redirects to the reference when the dashboard is not built. */
export function registerFrontDoor(
  server: HttpServer,
  dashboard: { files: DashboardFiles; sendPage: SendPage } | undefined,
): void {
  const options = { schema: { hide: true } };
  if (dashboard === undefined) {
    server.get('/', options, async (_request, reply) => reply.redirect('/docs'));
    return;
  }
  const { files, sendPage } = dashboard;
  const paths = ['/', ...PAGES.flatMap((page) => [`/${page}`, `/${page}/*`])];
  for (const path of paths) server.get(path, options, async (_request, reply) => sendPage(reply));
  for (const [path, file] of files.files)
    server.get(path, options, async (request, reply) => sendFile(request, reply, file));
}

function sendFile(request: FastifyRequest, reply: FastifyReply, file: DashboardFile) {
  reply
    .header('cache-control', file.immutable ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache')
    .header('vary', 'accept-encoding')
    .header('etag', file.etag);
  if (file.type.startsWith('text/html'))
    reply.header('content-security-policy', GUIDE_POLICY).header('cross-origin-opener-policy', 'same-origin');
  if (request.headers['if-none-match'] === file.etag) return reply.code(304).send();
  const accepted = String(request.headers['accept-encoding'] ?? '');
  for (const [encoding, bytes] of file.encoded)
    if (acceptsEncoding(accepted, encoding))
      return reply.header('content-encoding', encoding).type(file.type).send(bytes);
  return reply.type(file.type).send(file.plain);
}
