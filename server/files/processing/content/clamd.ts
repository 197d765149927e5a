import { Socket } from 'node:net';

/** clamd could not be reached, or did not answer as it should. Trying again may help. */
export class ScanError extends Error {
  override readonly name = 'ScanError';
}

/** The `z` has commands and answers end with a zero byte. */
export const COMMAND = Buffer.from('zINSTREAM\0');
/** A chunk of no bytes. */
export const END = Buffer.alloc(4);
/** An answer names at most a signature. */
const MAX_ANSWER_CHARACTERS = 4_096;

/** Each chunk is preceded by its length, four bytes in network order. */
export function withLength(chunk: Uint8Array): Buffer {
  const framed = Buffer.alloc(4 + chunk.length);
  framed.writeUInt32BE(chunk.length);
  framed.set(chunk, 4);
  return framed;
}

/**
 * clamd hangs up on who sends too much, after it has said so. A write that fails then would end the socket, and with it
 * what is still to be read; so a failed write is not told. The end, or the reset, comes right after what was said.
 */
export class ClamdSocket extends Socket {
  override _write(chunk: unknown, encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    super._write(chunk, encoding, (error) => {
      if (!error) done();
    });
  }
}

export type Answer = { readonly text: Promise<string>; isIn(): boolean };

/** Listens from the start: clamd may speak at any moment, and its last words come with its hanging up. */
export function readAnswer(socket: Socket): Answer {
  let received = '';
  let isIn = false;
  const text = new Promise<string>((resolve, reject) => {
    socket.setEncoding('utf8');
    socket.on('data', (piece: string) => {
      received += piece;
      const end = received.indexOf('\0');
      if (end >= 0) resolve(received.slice(0, end));
      else if (received.length > MAX_ANSWER_CHARACTERS)
        socket.destroy(new ScanError('clamd did not stop talking'));
    });
    socket.on('error', (error) => {
      reject(error instanceof ScanError ? error : new ScanError(`clamd is not there: ${error.message}`));
    });
    for (const end of ['end', 'close'])
      socket.on(end, () => reject(new ScanError('clamd hung up without an answer')));
  }).finally(() => {
    isIn = true;
  });
  // Whoever is sending asks `isIn`; the failure itself is met when the answer is awaited.
  text.catch(() => {});
  return { text, isIn: () => isIn };
}
