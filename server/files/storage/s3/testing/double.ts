import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../../../../infrastructure/runtime/clock.ts';
import { Secret } from '../../../../infrastructure/runtime/secret.ts';
import { answerTo, createBucket, type S3Answer, type S3Request } from './bucket.ts';
import { type Credentials, refusalOf } from './sigv4.ts';

const CREDENTIALS: Credentials = {
  accessKeyId: 'test-key',
  secretAccessKey: 'test-secret',
  region: 'eu-test-1',
};
const BUCKET = 'portico-files';

/** What goes wrong with a request: it is not carried out, or it is and nobody hears of it. */
type Fault = 'refuse' | 'lose request' | 'lose answer';

/**
 * A small S3-compatible store over HTTP with one bucket in memory. It does nothing for a request that is not rightly
 * signed. Links are judged by the clock that is handed in, the client's own requests by the machine's, as they are
 * signed by it.
 */
export async function createS3Double(clock: Clock) {
  const bucket = createBucket(BUCKET, clock);
  const refusals: string[] = [];
  const requests: S3Request[] = [];
  /** A promise keeps the answer back until it is fulfilled. */
  let faultOf: (request: S3Request) => Fault | undefined | Promise<undefined> = () => undefined;

  async function respond(message: IncomingMessage, response: ServerResponse): Promise<void> {
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
    if (!code) return answerTo(bucket, request);
    refusals.push(code);
    return { status: 403, code };
  }

  const server = createServer((message, response) => {
    respond(message, response).catch(() => message.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    bucket,
    refusals,
    requests,
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
