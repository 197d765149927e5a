import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { Timers } from '../../../infrastructure/runtime/clock.ts';
import { StartupError } from '../../../infrastructure/runtime/startup-error.ts';
import { type Answer, ClamdSocket, COMMAND, END, readAnswer, ScanError, withLength } from './clamd.ts';

/** `too_large`: clamd looks at no more than its own limits, and what was not looked at is not clean. */
export type ScanResult = 'clean' | 'infected' | 'too_large';
export type Scanner = ReturnType<typeof createScanner>;

/** How long clamd may take to accept a connection, to take the next chunk, and to answer when it has all. */
const CONNECT_TIMEOUT_MS = 5_000;
const CHUNK_TIMEOUT_MS = 30_000;
const ANSWER_TIMEOUT_MS = 300_000;

/**
 * Asks clamd, by its command INSTREAM: over TCP (`host:port`, `[address]:port`) or over a socket (`/path`).
 * When there is no answer to go by it throws a ScanError; an error of the content comes out as it is.
 */
export function createScanner({ clamd, timers }: { clamd: string; timers: Timers }) {
  const address = addressOf(clamd);

  async function within<T>(ms: number, socket: Socket, what: string, happens: Promise<T>): Promise<T> {
    const late = () => socket.destroy(new ScanError(`clamd did not ${what} within ${ms / 1_000} s`));
    const stop = timers.after(ms, late);
    try {
      return await happens;
    } finally {
      stop();
    }
  }

  /** Settles when the bytes are on their way, or when there is an answer already. */
  async function send(socket: Socket, bytes: Buffer, answer: Answer): Promise<void> {
    const sent = new Promise<unknown>((resolve) => socket.write(bytes, resolve));
    await within(CHUNK_TIMEOUT_MS, socket, 'take what it was sent', Promise.race([sent, answer.text]));
  }

  /** Whether clamd wanted all of it. */
  async function sendAll(socket: Socket, content: Readable, answer: Answer): Promise<boolean> {
    await send(socket, COMMAND, answer);
    for await (const chunk of content as AsyncIterable<Buffer>) {
      // A chunk of no bytes would be the end.
      if (chunk.length > 0) await send(socket, withLength(chunk), answer);
      if (answer.isIn()) return false;
    }
    await send(socket, END, answer);
    return true;
  }

  /** `signal` breaks it off: a process that stops does not wait for clamd. */
  async function scan(content: Readable, signal?: AbortSignal): Promise<ScanResult> {
    // It may fail before anybody reads it; whoever does then hears of it.
    content.on('error', () => {});
    const socket = new ClamdSocket().connect(address);
    const answer = readAnswer(socket);
    const breakOff = () => socket.destroy(new ScanError('the scan was broken off'));
    signal?.addEventListener('abort', breakOff, { once: true });
    try {
      const open = Promise.race([new Promise((resolve) => socket.once('connect', resolve)), answer.text]);
      await within(CONNECT_TIMEOUT_MS, socket, 'accept a connection', open);
      const isWhole = await sendAll(socket, content, answer);
      const text = await within(ANSWER_TIMEOUT_MS, socket, 'answer', answer.text);
      return resultOf(text, isWhole);
    } finally {
      signal?.removeEventListener('abort', breakOff);
      socket.destroy();
      content.destroy();
    }
  }

  return { scan };
}

const ADDRESS_PATTERN = /^(?:\[(?<address>[^\]]+)\]|(?<name>[^:/]+)):(?<port>\d{1,5})$/;

function addressOf(clamd: string): { path: string } | { host: string; port: number } {
  if (clamd.startsWith('/')) return { path: clamd };
  const { address, name, port } = ADDRESS_PATTERN.exec(clamd)?.groups ?? {};
  const host = address ?? name;
  if (host === undefined) throw new StartupError('PORTICO_CLAMD must be host:port or the path of a socket');
  return { host, port: Number(port) };
}

/** `stream: OK`, `stream: <signature> FOUND`, or `… ERROR`. */
function resultOf(answer: string, isWhole: boolean): ScanResult {
  // With `AlertExceedsMax yes` clamd reports this way what it did not look at to the end.
  if (/: Heuristics\.Limits\.Exceeded\S* FOUND$/.test(answer)) return 'too_large';
  if (answer.endsWith(' FOUND')) return 'infected';
  if (answer === 'INSTREAM size limit exceeded. ERROR') return 'too_large';
  if (answer === 'stream: OK' && isWhole) return 'clean';
  throw new ScanError(`clamd answered ${JSON.stringify(answer)}`);
}
