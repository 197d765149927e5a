import { connect } from 'node:net';

/** The bytes of a request, and its name in the output. */
export type Attack = { name: string; bytes: Buffer };

const ANSWER_WITHIN_MS = 15_000;

/** The status, once the connection has ended; undefined when the server closed it without a response. */
export function send({ hostname, port }: URL, { bytes }: Attack): Promise<number | undefined> {
  return new Promise((resolve) => {
    let status: number | undefined;
    const socket = connect(Number(port), hostname);
    socket.setTimeout(ANSWER_WITHIN_MS, () => socket.destroy());
    socket.on('error', () => {});
    socket.on('close', () => resolve(status));
    socket.once('data', (chunk) => {
      status = Number(chunk.toString('latin1', 'HTTP/1.1 '.length, 'HTTP/1.1 200'.length));
      socket.resume();
    });
    socket.write(bytes);
  });
}

export function requestOf({
  method,
  path,
  headers = {},
  body,
}: {
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: string;
}): Buffer {
  const all = {
    host: 'localhost',
    connection: 'close',
    ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`);
}

/** Chunked encoding with one byte per chunk. */
export function chunkedRequestOf({
  method,
  path,
  headers,
  bytes,
}: {
  method: string;
  path: string;
  headers: Record<string, string>;
  bytes: number;
}): Buffer {
  const all = { host: 'localhost', connection: 'close', 'transfer-encoding': 'chunked', ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(
    `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${'1\r\n \r\n'.repeat(bytes)}0\r\n\r\n`,
  );
}
