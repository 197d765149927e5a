import type { Socket } from 'node:net';
import { Failure } from '../../runtime/failure.ts';
import { answerFor, failureOfFramework } from '../errors.ts';

type ParseError = Error & { code?: string; rawPacket?: unknown };

/**
 * Bytes that the client sends after the response are read and discarded for this time; otherwise a reset would discard
 * the response.
 */
const DRAIN_MS = 2_000;
/** No token is this long, so a longer Authorization header is reported as malformed, not as a large header. */
const LONGEST_AUTHORIZATION_CHARACTERS = 8_192;

/** Requests that are not valid HTTP do not reach Fastify. They get the same error body. */
export function createBrokenRequestAnswer({
  headers,
  unlimitedBodies,
  canSendError,
}: {
  headers(): Record<string, string>;
  unlimitedBodies: WeakSet<Socket>;
  canSendError(socket: Socket): boolean;
}) {
  const answered = new WeakSet<Socket>();

  return (error: ParseError, socket: Socket): void => {
    // Node reports it once, and goes on if nothing closes the connection.
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && unlimitedBodies.has(socket)) return;
    // Each further chunk of the same request fails to parse too.
    if (answered.has(socket)) return;
    // A response in the middle of another one would be read as a part of it.
    if (error.code === 'ECONNRESET' || !socket.writable || !canSendError(socket)) {
      socket.destroy();
      return;
    }
    answered.add(socket);
    socket.end(render(failureOf(error), headers()));
    setTimeout(() => socket.destroy(), DRAIN_MS).unref();
  };
}

function failureOf(error: ParseError): Failure {
  if (error.code === 'HPE_HEADER_OVERFLOW' && hasEndlessToken(error.rawPacket))
    return new Failure('authentication_malformed', 'The access token is too long');
  return failureOfFramework(error) ?? new Failure('invalid_parameter', 'The request is not valid HTTP/1.1');
}

function hasEndlessToken(packet: unknown): boolean {
  const lines = Buffer.isBuffer(packet) ? packet.toString('latin1').split('\r\n') : [];
  return lines.some(
    (line) => line.length > LONGEST_AUTHORIZATION_CHARACTERS && /^authorization:/i.test(line),
  );
}

function render(failure: Failure, headers: Record<string, string>): string {
  const { status, body } = answerFor(failure);
  const text = JSON.stringify(body);
  return [
    `HTTP/1.1 ${status} ${body.error}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(text)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    'connection: close',
    '',
    text,
  ].join('\r\n');
}
