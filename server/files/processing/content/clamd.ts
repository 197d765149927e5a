import { Socket } from 'node:net';

/** clamd could not be reached or gave an unexpected reply. A retry may succeed. */
export class ScanError extends Error {
  override readonly name = 'ScanError';
}

/** With the prefix `z`, commands and replies end with a zero byte. */
export const COMMAND = Buffer.from('zINSTREAM\0');
/** An empty chunk ends the stream. */
export const END = Buffer.alloc(4);
const MAX_REPLY_CHARACTERS = 4_096;

/** Chunks are prefixed with their length, four bytes in network order. */
export function withLength(chunk: Uint8Array): Buffer {
  const framed = Buffer.alloc(4 + chunk.length);
  framed.writeUInt32BE(chunk.length);
  framed.set(chunk, 4);
  return framed;
}

/**
 * clamd closes the connection after replying that the size limit is exceeded. A failed write would destroy the
 * socket before that reply is read, so write errors are ignored; the close or reset follows the reply.
 */
export class ClamdSocket extends Socket {
  override _write(chunk: unknown, encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    super._write(chunk, encoding, (error) => {
      if (!error) done();
    });
  }
}

export type Reply = { readonly text: Promise<string>; isIn(): boolean };

/** Reads from the start, because clamd may reply before the upload ends. */
export function readReply(socket: Socket): Reply {
  let received = '';
  let isIn = false;
  const text = new Promise<string>((resolve, reject) => {
    socket.setEncoding('utf8');
    socket.on('data', (piece: string) => {
      received += piece;
      const end = received.indexOf('\0');
      if (end >= 0) resolve(received.slice(0, end));
      else if (received.length > MAX_REPLY_CHARACTERS)
        socket.destroy(new ScanError('the reply of clamd was too long'));
    });
    socket.on('error', (error) => {
      reject(
        error instanceof ScanError ? error : new ScanError(`connection to clamd failed: ${error.message}`),
      );
    });
    for (const end of ['end', 'close'])
      socket.on(end, () => reject(new ScanError('clamd closed the connection without a reply')));
  }).finally(() => {
    isIn = true;
  });
  // The sender checks `isIn`; the rejection surfaces where the reply is awaited.
  text.catch(() => {});
  return { text, isIn: () => isIn };
}
