import swagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import scalar from '@scalar/fastify-api-reference';
import type { HttpServer } from '../server.ts';
import { sessionCookieName } from '../session-cookie.ts';
import { moveToComponents, type OpenApiDocument } from './components.ts';
import { describeTags } from './tags.ts';

/** In the form of OpenAPI 3.1, where what we call is described beside what we answer. */
type OpenApiWebhooks = Extract<
  NonNullable<FastifyDynamicSwaggerOptions['openapi']>,
  { webhooks?: unknown }
>['webhooks'];

/** The reference page runs its own script and styles from this origin, and reaches nothing elsewhere. */
const REFERENCE_POLICY = [
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
 * By itself the page would load fonts, and on localhost offer to send the document to its makers: an AI agent,
 * an MCP generator, a share button, a hosted client, a request proxy. All of it is off.
 */
const REFERENCE = {
  url: '/openapi.json',
  pageTitle: 'Portico API reference',
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

export const PARTNER_INTRODUCTION = `Keys, tokens, webhooks and files: the front door of a banking and trading platform.

**Authenticate.** Exchange a key pair for a token at \`POST /oauth/token\`, with the scopes you need and no more, and
send it as \`Authorization: Bearer …\`. Keep it until shortly before \`expires_in\` has passed. Each operation names the
scopes and the kinds of token that it accepts.

**Errors** are one JSON body: \`error\`, \`message_code\` (for your code) and \`message\` (for you; it names the field).
Every answer carries an \`X-Request-Id\`: tell it to support.

**Lists** come newest first, by \`page\` and \`per_page\`, or for a walk of any depth by \`after\` with the \`next\` of the
page before. Filters take one value or several, separated by commas.

**Files** up to 7 MB travel in the request as base64; larger ones go straight to the \`upload_url\` of the answer, as raw
bytes. Either way a file is \`storing\` until its content was looked at, and can be used once it is \`completed\`.

**Webhooks.** A subscription gets every event of its Organization and environment as a POST. Answer with any 2xx within
two seconds, before you do anything else: after ten seconds, and on any other answer, it is sent again, for seven days.
The same event may come twice, and a later one first: remember the \`guid\`, and fetch the object for its latest state.
Verify each request before you believe it: \`X-Service-Signature\` is the lowercase hex of the HMAC-SHA-256 of the raw
body under the 64 characters of the \`signing_key\`. Libraries for Standard Webhooks verify it too, with the base64 of
these 64 characters as their secret.`;

export const OPERATOR_INTRODUCTION = `The calls of the people who run the service, each with \`Authorization: Bearer
<PORTICO_OPERATOR_TOKEN>\`. \`npx portico operator --help\` lists the same calls.`;

/** Registered before any route: the document is made of the schemas that the routes declare. */
export async function registerOpenApi(
  server: HttpServer,
  {
    baseUrl,
    version,
    supportEmail,
    description,
    webhooks,
  }: {
    baseUrl: string;
    version: string;
    supportEmail: string;
    description: string;
    webhooks?: OpenApiWebhooks;
  },
): Promise<void> {
  await server.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Portico',
        version,
        description,
        contact: { email: supportEmail },
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: baseUrl }],
      ...(webhooks ? { webhooks } : {}),
      components: {
        securitySchemes: {
          bearerToken: {
            type: 'http',
            scheme: 'bearer',
            bearerFormat: 'JWT',
            description: 'An access token; the names listed are the scopes it must hold',
          },
          clientCredentials: {
            type: 'http',
            scheme: 'basic',
            description: 'client_id and client_secret; both may also stand in the body',
          },
          session: {
            type: 'apiKey',
            in: 'cookie',
            name: sessionCookieName(baseUrl),
            description: 'The cookie of somebody who is logged in to the dashboard',
          },
          operatorToken: { type: 'http', scheme: 'bearer', description: 'The PORTICO_OPERATOR_TOKEN' },
        },
      },
    },
  });

  // All responses share one buffer, so that clients that read slowly do not fill the memory.
  let document: Buffer | undefined;
  server.get('/openapi.json', { schema: { hide: true } }, async (_request, reply) => {
    document ??= Buffer.from(JSON.stringify(finish(server.swagger())));
    return reply.type('application/json; charset=utf-8').send(document);
  });

  await server.register(async (scope) => {
    const scripts = new Map<string, Buffer>();
    scope.addHook('onSend', async ({ routeOptions: { url = '' } }, reply, payload) => {
      reply.header('content-security-policy', REFERENCE_POLICY);
      // The script has megabytes, so all answers share one buffer here as well.
      if (typeof payload !== 'string' || !url.endsWith('.js')) return payload;
      const bytes = scripts.get(url) ?? Buffer.from(payload);
      scripts.set(url, bytes);
      return bytes;
    });
    await scope.register(scalar, { routePrefix: '/docs', configuration: REFERENCE });
  });
}

/** What `@fastify/swagger` leaves out: named components, tags, and that an operation is public. */
function finish(generated: object): object {
  const document = JSON.parse(JSON.stringify(generated)) as OpenApiDocument & Record<string, unknown>;
  const operations = [document.paths, document.webhooks ?? {}].flatMap((paths) =>
    Object.values(paths).flatMap((methods) => Object.values(methods)),
  );
  for (const operation of operations) operation.security ??= [];
  const tags = describeTags(new Set(operations.flatMap((operation) => operation.tags ?? [])));
  const { paths, webhooks, components } = moveToComponents(document);
  return { ...document, tags, paths, ...(webhooks && { webhooks }), components };
}
