import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Failure } from '../../runtime/failure.ts';
import type { BodyPace } from './body-pace.ts';
import type { BodyShare } from './budget/body-pool.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Advice in the message of a 413, where there is another way to send the data. */
    whenTooLarge?: string;
  }
  interface FastifyRequest {
    /** Set before a body is read. */
    bodyIntake: { share: BodyShare; reply: FastifyReply };
  }
}

/** Bodies up to this size are read and parsed at once, without pacing. */
export const SMALL_BODY_BYTES = 16 * 1024;
/** Memory for a chunk in addition to its bytes. */
const PIECE_OVERHEAD_BYTES = 256;
/**
 * Chunked encoding may deliver every byte as its own chunk, each with a callback and an object. A body may have one
 * chunk per 512 bytes of its route's limit, up to a maximum, plus one per 512 bytes received.
 */
const PIECE_BYTES = 512;
const MAX_SMALL_PIECES = 1_024;
const RETRY_AFTER_SECONDS = 1;

/** Reads the body within the limits of its route, its sender and the process. */
export function readBody({
  request,
  payload,
  pace,
  write,
  done,
}: {
  request: FastifyRequest;
  payload: Readable;
  pace: BodyPace;
  /** Returns a failure to stop reading. */
  write(chunk: Buffer): Failure | undefined;
  done(failure: Failure | undefined, bytes: number): void;
}): void {
  const { bodyLimit, config } = request.routeOptions;
  const limit = bodyLimit as number;
  const smallPieces = Math.min(MAX_SMALL_PIECES, limit / PIECE_BYTES);
  const { share, reply } = request.bodyIntake;
  const declared = Number(request.headers['content-length'] ?? Number.NaN);
  let received = 0;
  let pieces = 0;
  let isOver = false;

  if (declared > limit) done(tooLarge(limit, config.whenTooLarge), 0);
  else {
    share.whenShed(() => end(overloaded()));
    payload.on('data', onData).once('end', onEnd).once('error', onCut).once('close', onCut);
    startReading(request);
  }

  function refusalOf(chunk: Buffer): Failure | undefined {
    received += chunk.length;
    pieces += 1;
    if (received > limit) return tooLarge(limit, config.whenTooLarge);
    if (pieces > smallPieces + received / PIECE_BYTES)
      return new Failure('invalid_parameter', 'The request body has too many small chunks; send larger ones');
    if (!share.take(chunk.length + PIECE_OVERHEAD_BYTES)) return overloaded();
    return write(chunk);
  }

  function onData(chunk: Buffer): void {
    const refusal = refusalOf(chunk);
    if (refusal) end(refusal);
    else if (received > SMALL_BODY_BYTES) {
      payload.pause();
      pace.read(chunk.length, () => payload.resume());
    }
  }

  function onEnd(): void {
    const isWhole = Number.isNaN(declared) || declared === received;
    end(
      isWhole
        ? undefined
        : new Failure('invalid_parameter', 'Content-Length must match the length of the request body'),
    );
  }

  function onCut(): void {
    end(new Failure('invalid_parameter', 'The connection was closed before the request body was complete'));
  }

  function end(failure: Failure | undefined): void {
    if (isOver) return;
    isOver = true;
    payload.off('data', onData).off('end', onEnd).off('close', onCut);
    // The response closes the connection.
    if (failure) stopReading(request);
    else share.complete();
    // A timeout may already have answered the request.
    if (!reply.sent) done(failure, received);
  }
}

/**
 * Pauses the socket, because a paused request buffers up to 64 KiB. A flowing request resumes its socket in `_read`,
 * even after the response, so `_read` is disabled as well.
 */
export function stopReading({ raw }: FastifyRequest): void {
  // An injected request has no real socket, and its own `_read`; a destroyed one has none.
  if (!raw.socket?.pause) return;
  raw._read = readNothing;
  raw.socket.off('resume', stopAgain).on('resume', stopAgain).pause();
}

/** Whether the rest of the body is discarded with the connection. */
export function isStopped({ raw }: FastifyRequest): boolean {
  return raw._read === readNothing;
}

export function startReading({ raw }: FastifyRequest): void {
  if (raw._read === readNothing) Reflect.deleteProperty(raw, '_read');
  if (!raw.socket?.resume) return;
  raw.socket.off('resume', stopAgain).resume();
}

/**
 * When a socket is resumed and paused in the same tick, Node starts reading with the late `resume` event, and another
 * `pause()` has no effect because the stream counts as paused. Node stops reading at every `pause` event. After a complete
 * body Node resumes the socket later: the stream must count as paused then, or `startReading` would have no effect.
 */
function stopAgain(this: Socket): void {
  if (this.isPaused()) this.emit('pause');
  else this.pause();
}

function readNothing(): void {}

function overloaded(): Failure {
  return new Failure('overloaded', 'Too many request bodies are being received; try again later', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

/** Other values are on bodies that are not encoded, for example `utf-8`. */
const COMPRESSED = /\b(gzip|deflate|br|zstd|compress)\b/i;

/** Refuses a body that cannot be parsed because it is compressed. */
export function failureOfEncoding({ headers, bodyIntake }: FastifyRequest): Failure | undefined {
  const { 'content-encoding': encoding } = headers;
  if (encoding === undefined || !COMPRESSED.test(encoding)) return undefined;
  // RFC 9110, section 15.5.16.
  bodyIntake.reply.header('accept-encoding', 'identity');
  return new Failure(
    'unsupported_media_type',
    'The request body must not be compressed; send it without Content-Encoding',
  );
}

function tooLarge(limit: number, advice: string | undefined): Failure {
  const message = `The request body must have at most ${limit} bytes`;
  return new Failure('payload_too_large', advice === undefined ? message : `${message}; ${advice}`);
}
