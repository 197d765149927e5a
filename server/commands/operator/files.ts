import { once } from 'node:events';
import { open, rm } from 'node:fs/promises';
import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { Config } from '../../infrastructure/config/config.ts';
import type { Secret } from '../../infrastructure/runtime/secret.ts';
import { StartupError } from '../../infrastructure/runtime/startup-error.ts';
import { TRANSFER_KEY_HEADER } from '../../operator/transfer/transfer-key.ts';
import type { Arguments } from './arguments.ts';
import { type Call, FILE_FIELD } from './calls.ts';
import { misuse } from './help.ts';
import type { CallRequest } from './request.ts';
import { type CallResponse, notPortico, unreachable } from './service.ts';

const STANDARD = '-';
/** It has secrets, though encrypted. */
const FILE_MODE = 0o600;

const NEXT = 'export it again, or run portico operator organizations unfreeze.';

type Transfer = { call: Call; request: CallRequest; path: string };

export function fileIn(call: Call, { flags }: Arguments): string {
  const [path, ...others] = flags.get(FILE_FIELD.name) ?? [];
  if (path === undefined || path === '') throw misuse(call, '--file is missing.');
  if (others.length > 0) throw misuse(call, '--file must be given only once.');
  return path;
}

/**
 * A call that reads or writes a file. It takes as long as the file is large, so it has no time limit; `fetch` would end it
 * after five minutes.
 */
export async function sendFile(
  { operatorUrl, transferKey }: Config,
  token: Secret,
  { call, request, path }: Transfer,
  stop: AbortSignal = interruption(),
): Promise<CallResponse> {
  if (!transferKey)
    throw new StartupError(
      'Set PORTICO_TRANSFER_KEY to a secret of at least 32 characters, the same for export and import: openssl rand -hex 32',
    );
  const reads = call.file === 'read';
  // Before the call, which freezes the Organization.
  const file = await opened(path, reads ? 'r' : 'wx');
  const url = new URL(`${operatorUrl}${request.path}`);
  const outgoing = (url.protocol === 'https:' ? https : http).request(url, {
    method: request.method,
    signal: stop,
    headers: {
      authorization: `Bearer ${token.reveal()}`,
      [TRANSFER_KEY_HEADER]: transferKey.reveal(),
      ...(reads ? { 'content-type': 'application/octet-stream' } : {}),
    },
  });
  const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>;
  let isConnected = false;
  outgoing.once('socket', (socket) =>
    socket.once('connect', () => {
      isConnected = true;
    }),
  );
  // A service that refuses the file answers, and closes the connection while the file is sent.
  outgoing.on('error', () => undefined);
  if (reads) (file as Readable).once('error', (error) => outgoing.destroy(error)).pipe(outgoing);
  else outgoing.end();
  try {
    const [response] = await answered;
    const ok = response.statusCode === 200;
    if (reads || !ok) return { ok, body: await bodyOf(response, operatorUrl, request.path) };
    return { ok, body: { file: path, bytes: await written(response, file as Writable) } };
  } catch (error) {
    if (error instanceof StartupError) throw error;
    throw isConnected || stop.aborted
      ? unanswered(call, stop.aborted ? 'interrupted' : reasonOf(error))
      : unreachable(operatorUrl, { cause: error } as Error);
  } finally {
    if (reads) stopSending(file as Readable, outgoing);
    else await removeIncomplete(path, file as Writable);
  }
}

/** The first Ctrl-C, which would otherwise leave a part of the file. A second one ends the process at once. */
function interruption(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop.abort());
  return stop.signal;
}

/** The service goes on without the connection: it freezes, and commits an import whose file has arrived. */
function unanswered({ file }: Call, reason: string): StartupError {
  return new StartupError(
    file === 'read'
      ? `The import was not answered (${reason}). It may have completed: import the file again before you unfreeze the Organization.`
      : `The export was not answered (${reason}). The Organization may be frozen: ${NEXT}`,
  );
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message;
}

/** An existing file is not overwritten. */
async function opened(path: string, flags: 'r' | 'wx'): Promise<Readable | Writable> {
  if (path === STANDARD) return flags === 'r' ? process.stdin : process.stdout;
  try {
    const file = await open(path, flags, FILE_MODE);
    return flags === 'r' ? file.createReadStream() : file.createWriteStream();
  } catch (error) {
    throw new StartupError(`The file ${path} cannot be opened (${(error as Error).message}).`);
  }
}

async function bodyOf(response: IncomingMessage, baseUrl: string, path: string): Promise<unknown> {
  try {
    return JSON.parse(await text(response));
  } catch {
    throw notPortico(baseUrl, path);
  }
}

async function written(response: IncomingMessage, target: Writable): Promise<number> {
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  try {
    await pipeline(response, target, { end: target !== process.stdout });
    return bytes;
  } catch (error) {
    throw new StartupError(
      `The export did not arrive whole (${(error as Error).message}). The Organization stays frozen: ${NEXT}`,
    );
  }
}

/** The rest of a file keeps the process alive. */
function stopSending(file: Readable, outgoing: ClientRequest): void {
  file.unpipe(outgoing).destroy();
  outgoing.destroy();
}

async function removeIncomplete(path: string, target: Writable): Promise<void> {
  if (path === STANDARD || target.writableFinished) return;
  target.destroy();
  await rm(path, { force: true });
}
