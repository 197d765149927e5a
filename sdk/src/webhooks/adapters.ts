import type { WebhookHeaders } from './headers.ts';
import type { Receipt, Receiver } from './receiver.ts';

/** An event has about 300 bytes. */
const MAX_BODY_BYTES = 65_536;
const JSON_TYPE = { 'content-type': 'application/json' };
const TOO_LARGE: Receipt = { status: 413, body: '{"error":"payload_too_large"}' };

/**
 * A handler of the Fetch API, for Bun, Deno, Hono, SvelteKit and others. `waitUntil` keeps the work alive after the
 * response where the platform needs that: pass the function of the platform, for example of Cloudflare Workers.
 */
export function fetchAdapter(receiver: Receiver) {
  return async (request: Request, context: { waitUntil?: (work: Promise<unknown>) => unknown } = {}) => {
    const exchange = respond(receiver, request);
    // From the beginning: Cloudflare cancels a request when its sender leaves, and the event may be recorded already.
    context.waitUntil?.(exchange.then(({ worked }) => worked).catch(() => {}));
    return (await exchange).response;
  };
}

/** A route handler of Next.js: `export const POST = nextAdapter(receiver, { after })` with `after` of `next/server`. */
export function nextAdapter(
  receiver: Receiver,
  { after }: { after: (work: () => Promise<unknown>) => unknown },
) {
  const handle = fetchAdapter(receiver);
  // The work does not wait for `after`, whose callback older versions of Next.js never call if the sender has left.
  return (request: Request) => handle(request, { waitUntil: (work) => after(() => work) });
}

type NodeRequest = AsyncIterable<Uint8Array | string> & { headers: WebhookHeaders; body?: unknown };
type NodeResponse = {
  readonly headersSent: boolean;
  writeHead(status: number, headers: Record<string, string>): { end(body: string): unknown };
};

/**
 * A handler of Express, Connect and `node:http`. It reads the body itself; behind a parser it needs the raw one:
 * `express.raw({ type: 'application/json' })`.
 */
export function expressAdapter(receiver: Receiver) {
  return async (request: NodeRequest, response: NodeResponse): Promise<void> => {
    let body: Uint8Array | undefined;
    try {
      body = (request.body as Uint8Array | undefined) ?? (await readAll(request));
    } catch {
      return; // The sender closed the connection before the end of the body.
    }
    const { status, text } = await receive(receiver, body, request.headers);
    // A middleware with a timeout may have answered.
    if (!response.headersSent) response.writeHead(status, JSON_TYPE).end(text);
  };
}

type FastifyReply = {
  code(status: number): FastifyReply;
  headers(headers: Record<string, string>): FastifyReply;
  send(body: string): unknown;
};
type Fastify = {
  removeAllContentTypeParsers(): unknown;
  addContentTypeParser(
    type: string,
    options: { parseAs: 'buffer'; bodyLimit: number },
    parser: (request: unknown, body: Uint8Array, done: (error: null, body: Uint8Array) => void) => void,
  ): unknown;
  post(
    path: string,
    handler: (request: { body: unknown; headers: WebhookHeaders }, reply: FastifyReply) => unknown,
  ): unknown;
};

/** A plugin of Fastify: `fastify.register(fastifyAdapter(receiver, '/webhooks'))`. Other routes keep their parsers. */
export function fastifyAdapter(receiver: Receiver, path: string) {
  return async (fastify: unknown): Promise<void> => {
    const scope = fastify as Fastify;
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: MAX_BODY_BYTES }, (_, body, done) =>
      done(null, body),
    );
    scope.post(path, async (request, reply) => {
      const body = (request.body ?? new Uint8Array()) as Uint8Array;
      const { status, text } = await receive(receiver, body, request.headers);
      return reply.code(status).headers(JSON_TYPE).send(text);
    });
  };
}

async function respond(receiver: Receiver, request: Request) {
  if (request.method !== 'POST') {
    const headers = { ...JSON_TYPE, allow: 'POST' };
    return { response: new Response('{"error":"method_not_allowed"}', { status: 405, headers }) };
  }
  const body = await readAll(request.body ?? []);
  const { status, text, worked } = await receive(receiver, body, request.headers);
  return { response: new Response(text, { status, headers: JSON_TYPE }), worked };
}

/**
 * The work runs in a task of its own, after the answer of its caller. It does not wait for the end of the response: a
 * sender that left before would never cause it, and its repeat would be a duplicate.
 */
async function receive(receiver: Receiver, body: Uint8Array | undefined, headers: WebhookHeaders) {
  const { status, body: text, work } = body ? await receiver.receive(body, headers) : TOO_LARGE;
  return { status, text, worked: work && new Promise((resolve) => setTimeout(resolve)).then(work) };
}

/** Undefined if the body is too large. */
async function readAll(
  source: AsyncIterable<Uint8Array | string> | Iterable<Uint8Array> | ReadableStream<Uint8Array>,
): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of 'getReader' in source ? chunksOf(source) : source) {
    const bytes = typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk;
    size += bytes.length;
    if (size > MAX_BODY_BYTES) return undefined;
    chunks.push(bytes);
  }
  const all = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    all.set(chunk, offset);
    offset += chunk.length;
  }
  return all;
}

/** Safari and some edge runtimes cannot iterate over a stream. */
async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
  } finally {
    // Ends the stream if the body is too large; a complete one is already closed.
    reader.cancel().catch(() => {});
  }
}
