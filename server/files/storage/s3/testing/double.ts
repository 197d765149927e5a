import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../../../../infrastructure/runtime/clock.ts';
import { Secret } from '../../../../infrastructure/runtime/secret.ts';
import { answerTo, createBucket, type S3Answer, type S3Request } from './bucket.ts';
import { answerToMultipart } from './multipart.ts';
import { type Credentials, refusalOf } from './sigv4.ts';

const CREDENTIALS: Credentials = {
  accessKeyId: 'test-key',
  secretAccessKey: 'test-secret',
  region: 'eu-test-1',
};
const BUCKET = 'portico-files';

/** The fault of a request: it is refused, lost before it is carried out, or its response is lost. */
type Fault = 'refuse' | 'lose request' | 'lose answer';

/**
 * A small S3-compatible store over HTTP with one bucket in memory, which verifies every signature. Pre-signed
 * URLs are checked against the given clock, requests of the client against the system clock, which signs them.
 */
export async function createS3Double(clock: Clock) {
  const bucket = createBucket(BUCKET, clock);
  const refusals: string[] = [];
  const requests: S3Request[] = [];
  let begun = 0;
  /** A promise delays the response until it resolves. */
  let faultOf: (request: S3Request) => Fault | undefined | Promise<undefined> = () => undefined;

  async function respond(message: IncomingMessage, response: ServerResponse): Promise<void> {
    begun += 1;
    const request = await readRequest(message);
    requests.push(request);
    const fault = await faultOf(request);
    if (fault === 'lose request') return void message.socket.destroy();
    const answer = fault === 'refuse' ? { status: 500, code: 'InternalError' } : judge(request);
    if (fault === 'lose answer') return void message.socket.destroy();
    const text = answer.code
      ? `<Error><Code>${answer.code}</Code><Message>no</Message></Error>`
      : answer.body;
    response.writeHead(answer.status, { 'content-type': 'application/xml', ...answer.headers });
    response.end(request.method === 'HEAD' ? undefined : text);
  }

  function judge(request: S3Request): S3Answer {
    const isLink = request.query.has('X-Amz-Signature');
    const code = refusalOf(request, CREDENTIALS, isLink ? clock.now() : new Date());
    if (!code) return answerToMultipart(bucket, request) ?? answerTo(bucket, request);
    refusals.push(code);
    return { status: 403, code };
  }

  const server = createServer((message, response) => {
    respond(message, response).catch(() => message.socket.destroy());
  });
  // Only the client closes idle connections: five seconds of real time may pass in a test on a busy machine.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    bucket,
    refusals,
    requests,
    /** Requests whose headers have arrived. */
    begun: () => begun,
    setFault(fault: typeof faultOf) {
      faultOf = fault;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
    settings: {
      endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      bucket: BUCKET,
      region: CREDENTIALS.region,
      accessKeyId: CREDENTIALS.accessKeyId,
      secretAccessKey: new Secret(CREDENTIALS.secretAccessKey),
    },
  };
}

async function readRequest(message: IncomingMessage): Promise<S3Request> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  const url = message.url ?? '/';
  const { pathname, searchParams } = new URL(url, 'http://store');
  return {
    method: message.method ?? '',
    url,
    path: decodeURIComponent(pathname),
    query: searchParams,
    headers: message.headers,
    body: Buffer.concat(chunks),
  };
}
