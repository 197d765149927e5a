import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { Timers } from '../../../infrastructure/runtime/clock.ts';
import { ClamdSocket, COMMAND, END, type Reply, readReply, ScanError, withLength } from './clamd.ts';

/** `too_large`: clamd scans only up to its own limits, and unscanned content does not count as clean. */
export type ScanResult = 'clean' | 'infected' | 'too_large';
export type Scanner = ReturnType<typeof createScanner>;

const CONNECT_TIMEOUT_MS = 5_000;
const CHUNK_TIMEOUT_MS = 30_000;
const REPLY_TIMEOUT_MS = 300_000;

/**
 * Scans content with the INSTREAM command of clamd, over TCP (`host:port`, `[address]:port`) or a Unix socket
 * (`/path`). Throws ScanError when clamd gives no usable reply; errors of the content are rethrown unchanged.
 */
export function createScanner({ clamd, timers }: { clamd: string; timers: Timers }) {
  const address = addressOf(clamd);

  async function within<T>(ms: number, socket: Socket, action: string, result: Promise<T>): Promise<T> {
    const late = () => socket.destroy(new ScanError(`clamd did not ${action} within ${ms / 1_000} s`));
    const stop = timers.after(ms, late);
    try {
      return await result;
    } finally {
      stop();
    }
  }

  /** Resolves when the bytes are written, or when clamd has already replied. */
  async function send(socket: Socket, bytes: Buffer, reply: Reply): Promise<void> {
    const sent = new Promise<unknown>((resolve) => socket.write(bytes, resolve));
    await within(CHUNK_TIMEOUT_MS, socket, 'accept data', Promise.race([sent, reply.text]));
  }

  /** False when clamd replied before the end of the content. */
  async function sendAll(socket: Socket, content: Readable, reply: Reply): Promise<boolean> {
    await send(socket, COMMAND, reply);
    for await (const chunk of content as AsyncIterable<Buffer>) {
      // An empty chunk would end the stream.
      if (chunk.length > 0) await send(socket, withLength(chunk), reply);
      if (reply.isIn()) return false;
    }
    await send(socket, END, reply);
    return true;
  }

  /** `signal` aborts the scan, so that a stopping process does not wait for clamd. */
  async function scan(content: Readable, signal?: AbortSignal): Promise<ScanResult> {
    // An error before the first read would be unhandled; the reader still receives it.
    content.on('error', () => {});
    const socket = new ClamdSocket().connect(address);
    const reply = readReply(socket);
    const abort = () => socket.destroy(new ScanError('the scan was aborted'));
    signal?.addEventListener('abort', abort, { once: true });
    try {
      const open = Promise.race([new Promise((resolve) => socket.once('connect', resolve)), reply.text]);
      await within(CONNECT_TIMEOUT_MS, socket, 'accept a connection', open);
      const isWhole = await sendAll(socket, content, reply);
      const text = await within(REPLY_TIMEOUT_MS, socket, 'reply', reply.text);
      return resultOf(text, isWhole);
    } finally {
      signal?.removeEventListener('abort', abort);
      socket.destroy();
      content.destroy();
    }
  }

  return { scan };
}

/** Of a valid `PORTICO_CLAMD`. */
function addressOf(clamd: string): { path: string } | { host: string; port: number } {
  if (clamd.startsWith('/')) return { path: clamd };
  const colon = clamd.lastIndexOf(':');
  return { host: clamd.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(clamd.slice(colon + 1)) };
}

/** `stream: OK`, `stream: <signature> FOUND`, or `… ERROR`. */
function resultOf(reply: string, isWhole: boolean): ScanResult {
  // clamd reports a scan that hit its limits this way when it is configured with `AlertExceedsMax yes`.
  if (/: Heuristics\.Limits\.Exceeded\S* FOUND$/.test(reply)) return 'too_large';
  if (reply.endsWith(' FOUND')) return 'infected';
  if (reply === 'INSTREAM size limit exceeded. ERROR') return 'too_large';
  if (reply === 'stream: OK' && isWhole) return 'clean';
  throw new ScanError(`unexpected reply of clamd: ${JSON.stringify(reply)}`);
}
