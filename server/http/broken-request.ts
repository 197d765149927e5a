import type { Socket } from 'node:net';
import { Failure } from '../runtime/failure.ts';
import { answerFor, failureOfFramework } from './errors.ts';

/** What did not even parse as HTTP never reaches Fastify; it gets the contract's body all the same. */
export function answerBrokenRequest(
  error: Error & { code?: string },
  socket: Socket,
  headers: Record<string, string>,
): void {
  // A connection that the peer has reset, or that has already been answered on, takes no answer.
  if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesWritten > 0) {
    socket.destroy();
    return;
  }
  const failure =
    failureOfFramework(error) ?? new Failure('invalid_parameter', 'The request is not valid HTTP');
  const { status, body } = answerFor(failure);
  const text = JSON.stringify(body);
  socket.end(
    [
      `HTTP/1.1 ${status} ${body.error}`,
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(text)}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      'connection: close',
      '',
      text,
    ].join('\r\n'),
  );
}
