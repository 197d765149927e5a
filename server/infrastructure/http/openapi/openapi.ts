import swagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import scalar from '@scalar/fastify-api-reference';
import type { HttpServer } from '../server.ts';
import { sessionCookieName } from '../session-cookie.ts';
import { moveToComponents, type OpenApiDocument } from './components.ts';
import { describeTags } from './tags.ts';

/** Requests that the service sends, as OpenAPI 3.1 describes them. */
type OpenApiWebhooks = Extract<
  NonNullable<FastifyDynamicSwaggerOptions['openapi']>,
  { webhooks?: unknown }
>['webhooks'];

/** The reference page loads scripts and styles from this origin only. */
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
 * Disables what the page loads or sends elsewhere by default: fonts, telemetry, an AI agent, an MCP generator, a share
 * button, a hosted client and a request proxy.
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

export const PARTNER_INTRODUCTION = `API keys, access tokens, webhooks and files of a banking and trading platform.

**Authentication.** Exchange a key pair for an access token at \`POST /oauth/token\`, with the scopes you need, and send
it as \`Authorization: Bearer …\`. Reuse it until shortly before \`expires_in\` has passed. Each operation lists the
scopes and the token types that it accepts.

**Errors** have one JSON body: \`error\`, \`message_code\` (for your code) and \`message\` (for a person; it names the
field). Every response has an \`X-Request-Id\`. Include it when you contact support.

**Repeats.** Send an \`Idempotency-Key\` with every \`POST\` and repeat it after a broken connection: within 24 hours the
same key and body return the first answer, with \`Idempotency-Replayed: true\`, and nothing is created twice.

**Lists** are sorted newest first. Use \`page\` and \`per_page\`, or for lists of any length \`after\` with the \`next\` of
the previous page. Filters take one value or several, separated by commas or in repeated parameters. Times are ISO 8601
date-times, or dates for their midnight in UTC.

**Versions.** A single object has an \`ETag\`. Send it as \`If-None-Match\` to get 304 while the object is the same, and as
\`If-Match\` with a \`PATCH\` to get 412 instead of overwriting another change.

**Files** of up to 7 MB can be sent as base64 in the request. Send larger files as raw bytes to the \`upload_url\` of the
response. A file is \`storing\` until its content is checked, and can be used once it is \`completed\`.

**Webhooks.** A subscription receives every event of its Organization and environment as a POST. Respond with any 2xx
within two seconds, before any other work. After ten seconds, or after another status, the service retries for seven
days. An event can arrive twice and out of order: store the \`guid\`, and fetch the object for its current state.
Verify each request first: \`X-Service-Signature\` is the HMAC-SHA-256 of the raw body with the 64 characters of the
\`signing_key\`, as lowercase hexadecimal characters. Standard Webhooks libraries verify it too; their secret is the
base64 of these 64 characters.`;

export const OPERATOR_INTRODUCTION = `Operations for the operator of the service, with \`Authorization: Bearer
<PORTICO_OPERATOR_TOKEN>\`. \`npx portico operator --help\` lists the same operations.`;

/** Call it before any route is registered: the document is made of the schemas of the routes. */
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
            description: 'An access token. The listed names are the scopes that it needs.',
          },
          clientCredentials: {
            type: 'http',
            scheme: 'basic',
            description: 'client_id and client_secret. Both can be sent in the body instead.',
          },
          session: {
            type: 'apiKey',
            in: 'cookie',
            name: sessionCookieName(baseUrl),
            description: 'The session cookie of the dashboard',
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
      // The script has megabytes, so all responses share one buffer here as well.
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
