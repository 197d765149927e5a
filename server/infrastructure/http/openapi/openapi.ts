import swagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import type { HttpServer } from '../server.ts';
import { sessionCookieName } from '../session-cookie.ts';
import { collectionOf } from './collection.ts';
import { moveToComponents, type OpenApiDocument } from './components.ts';
import { loadScriptOnce, type PageLink, registerReferencePage } from './reference-page.ts';
import { describeTags } from './tags.ts';

type OpenApi = NonNullable<FastifyDynamicSwaggerOptions['openapi']>;
/** Requests that the service sends, as OpenAPI 3.1 describes them. */
type OpenApiWebhooks = Extract<OpenApi, { webhooks?: unknown }>['webhooks'];

export type ServerAddress = { url: string; description?: string };

/** One document with its reference page, at `<address>/openapi.json` and `<address>/docs/`. */
export type ServedDocument = {
  address: '' | '/operator';
  title: string;
  description: string;
  includes(path: string): boolean;
  /** Of a path with other addresses than the base URL. */
  serversOf?(path: string): readonly ServerAddress[] | undefined;
  /** Operations that another server answers. */
  elsewhere?: { server: HttpServer; baseUrl: string; includes(path: string): boolean };
  webhooks?: OpenApiWebhooks;
  /** Also as a collection of Postman, at `<address>/postman.json`. */
  hasCollection?: boolean;
  /** At the top of the page. */
  links: readonly PageLink[];
};

/** Call it before any route is registered: the documents are made of the schemas of the routes. */
export async function registerOpenApi(
  server: HttpServer,
  {
    baseUrl,
    version,
    supportEmail,
    documents,
  }: { baseUrl: string; version: string; supportEmail: string; documents: readonly ServedDocument[] },
): Promise<void> {
  await server.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Portico',
        version,
        contact: { email: supportEmail },
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: baseUrl }],
      components: { securitySchemes: securitySchemes(baseUrl) },
    },
  });
  const loadScript = loadScriptOnce();
  for (const document of documents) {
    const { address, title, links } = document;
    const url = `${address}/openapi.json`;
    // All responses share one buffer, so that clients that read slowly do not fill the memory.
    let bytes: Buffer | undefined;
    server.get(url, { schema: { hide: true } }, async (_request, reply) => {
      bytes ??= Buffer.from(JSON.stringify(documentOf(server, document)));
      return reply.type('application/json; charset=utf-8').send(bytes);
    });
    if (document.hasCollection) {
      let collection: Buffer | undefined;
      server.get(`${address}/postman.json`, { schema: { hide: true } }, async (_request, reply) => {
        collection ??= Buffer.from(JSON.stringify(collectionOf(documentOf(server, document))));
        return reply.type('application/json; charset=utf-8').send(collection);
      });
    }
    registerReferencePage(server, { address: `${address}/docs`, title, url, links, loadScript });
  }
}

function securitySchemes(baseUrl: string) {
  return {
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
  } as const;
}

type Generated = OpenApiDocument & { info: object; components: { securitySchemes?: object } };
type Paths = OpenApiDocument['paths'];

/** Adds what `@fastify/swagger` leaves out: named components, tags, and that an operation is public. */
function documentOf(server: HttpServer, document: ServedDocument): object {
  const { title, description, includes, serversOf = () => undefined, elsewhere, webhooks } = document;
  const generated = copyOf(server.swagger()) as Generated;
  const others = elsewhere && (copyOf(elsewhere.server.swagger()) as Generated).paths;
  const own: Generated = {
    ...generated,
    info: { ...generated.info, title, description },
    paths: {
      ...withServers(withPaths(generated.paths, includes), serversOf),
      ...(others && withServers(withPaths(others, elsewhere.includes), () => [{ url: elsewhere.baseUrl }])),
    },
    ...(webhooks && { webhooks: copyOf(webhooks) as Paths }),
  };
  const operations = [own.paths, own.webhooks ?? {}].flatMap((paths) =>
    Object.values(paths).flatMap((methods) => Object.values(methods)),
  );
  for (const operation of operations) operation.security ??= [];
  const used = new Set(operations.flatMap(({ security = [] }) => security.flatMap(Object.keys)));
  const schemes = Object.entries(own.components.securitySchemes ?? {}).filter(([name]) => used.has(name));
  own.components.securitySchemes = Object.fromEntries(schemes);
  const tags = describeTags(new Set(operations.flatMap((operation) => operation.tags ?? [])));
  const { paths, webhooks: named, components } = moveToComponents(own);
  return { ...own, tags, paths, ...(named && { webhooks: named }), components };
}

function withPaths(paths: Paths, includes: (path: string) => boolean): Paths {
  return Object.fromEntries(Object.entries(paths).filter(([path]) => includes(path)));
}

function withServers(paths: Paths, serversOf: NonNullable<ServedDocument['serversOf']>): Paths {
  for (const [path, methods] of Object.entries(paths)) {
    const servers = serversOf(path);
    if (servers) for (const operation of Object.values(methods)) operation.servers = [...servers];
  }
  return paths;
}

function copyOf(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
