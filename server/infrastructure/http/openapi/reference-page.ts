import fastify from 'fastify';
import type { HttpServer } from '../server.ts';

export type PageLink = { label: string; href: string };

/** The reference page loads scripts and styles from this origin only. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self' 'unsafe-inline'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self' blob:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * Disables requests to other hosts that the page makes by default: fonts, telemetry, an AI agent, an MCP generator, a share
 * button, a hosted client and a request proxy.
 */
const CONFIGURATION = {
  theme: 'default',
  withDefaultFonts: false,
  telemetry: false,
  proxyUrl: '',
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
  hideClientButton: true,
  persistAuth: false,
} as const;

const HEADER_HEIGHT_PX = 40;
const SCRIPT = 'js/scalar.js';

/** Serves the page of a document. */
export function registerReferencePage(
  server: HttpServer,
  page: {
    address: string;
    title: string;
    url: string;
    links: readonly PageLink[];
    loadScript(): Promise<Buffer>;
  },
): void {
  const { address } = page;
  const options = { schema: { hide: true } };
  const html = Buffer.from(htmlOf(page));

  server.get(`${address}/`, options, async ({ url }, reply) => {
    if (!url.startsWith(`${address}/`)) return reply.redirect(`${address}/`, 301);
    return reply.header('content-security-policy', POLICY).type('text/html; charset=utf-8').send(html);
  });

  server.get(`${address}/${SCRIPT}`, options, async (_request, reply) =>
    reply.type('application/javascript; charset=utf-8').send(await page.loadScript()),
  );
}

/**
 * The script of the page, at the first request: importing the package takes a tenth of a start. It keeps the script in a
 * route only. All responses share one buffer, because the script has megabytes.
 */
export function loadScriptOnce(): () => Promise<Buffer> {
  let script: Promise<Buffer> | undefined;
  async function load(): Promise<Buffer> {
    const { default: scalar } = await import('@scalar/fastify-api-reference');
    const pages = fastify();
    await pages.register(scalar, { routePrefix: '/docs', configuration: { url: '/' } });
    const { rawPayload } = await pages.inject(`/docs/${SCRIPT}`);
    await pages.close();
    return rawPayload;
  }
  return () => {
    script ??= load();
    return script;
  };
}

function htmlOf({ title, url, links }: { title: string; url: string; links: readonly PageLink[] }): string {
  const anchors = links.map(({ label, href }) => `<a href="${href}">${label}</a>`);
  const configuration = JSON.stringify({ url, ...CONFIGURATION });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>
:root { --scalar-custom-header-height: ${anchors.length > 0 ? HEADER_HEIGHT_PX : 0}px; }
body { margin: 0; }
header { position: sticky; top: 0; z-index: 10; box-sizing: border-box; height: ${HEADER_HEIGHT_PX}px; padding: 0 16px;
  display: flex; gap: 20px; align-items: center; font: 500 14px system-ui, sans-serif;
  color: var(--scalar-color-1, #1b1b1b); background: var(--scalar-background-1, #fff);
  border-bottom: 1px solid var(--scalar-border-color, #ddd); }
header a { color: inherit; }
</style>
</head>
<body>
${anchors.length > 0 ? `<header>${anchors.join('')}</header>` : ''}
<div id="app"></div>
<script src="${SCRIPT}"></script>
<script>
Scalar.createApiReference('#app', ${configuration})
</script>
</body>
</html>
`;
}
