import { createReadStream, createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Config } from '../../infrastructure/config/config.ts';
import type { Secret } from '../../infrastructure/runtime/secret.ts';
import { StartupError } from '../../infrastructure/runtime/startup-error.ts';
import { TRANSFER_KEY_HEADER } from '../../operator/transfer/routes.ts';
import type { Arguments } from './arguments.ts';
import { type Call, FILE_FIELD } from './calls.ts';
import { misuse } from './help.ts';
import type { CallRequest } from './request.ts';
import { type CallResponse, notPortico, unreachable } from './service.ts';

const STANDARD = '-';

type Transfer = { call: Call; request: CallRequest; path: string };

export function fileIn(call: Call, { flags }: Arguments): string {
  const [path, ...others] = flags.get(FILE_FIELD.name) ?? [];
  if (path === undefined || path === '') throw misuse(call, '--file is missing.');
  if (others.length > 0) throw misuse(call, '--file must be given only once.');
  return path;
}

/** A call that reads or writes a file, without a time limit: it takes as long as the file is large. */
export async function sendFile(
  { operatorUrl, transferKey }: Config,
  token: Secret,
  { call, request, path }: Transfer,
): Promise<CallResponse> {
  if (!transferKey)
    throw new StartupError(
      'Set PORTICO_TRANSFER_KEY to a secret of at least 32 characters, the same for export and import: openssl rand -hex 32',
    );
  const response = await fetch(`${operatorUrl}${request.path}`, {
    method: request.method,
    redirect: 'manual',
    headers: {
      authorization: `Bearer ${token.reveal()}`,
      [TRANSFER_KEY_HEADER]: transferKey.reveal(),
      ...(call.file === 'read' ? { 'content-type': 'application/octet-stream' } : {}),
    },
    ...(call.file === 'read' ? { body: opened(path), duplex: 'half' } : {}),
  } as RequestInit).catch((error: Error) => {
    throw unreachable(operatorUrl, error);
  });
  if (call.file === 'read' || !response.ok) return answerOf(response, operatorUrl, request.path);
  const bytes = await written(response, path);
  return { ok: true, body: { file: path, bytes } };
}

function opened(path: string): ReadableStream {
  const source = path === STANDARD ? process.stdin : createReadStream(path);
  return Readable.toWeb(source) as ReadableStream;
}

async function answerOf(response: Response, baseUrl: string, path: string): Promise<CallResponse> {
  try {
    return { ok: response.ok, body: JSON.parse(await response.text()) };
  } catch {
    throw notPortico(baseUrl, path);
  }
}

/** A file that is not complete is removed. Returns the number of bytes. */
async function written({ body }: Response, path: string): Promise<number> {
  let bytes = 0;
  async function* counted(source: AsyncIterable<Uint8Array>) {
    for await (const chunk of source) {
      bytes += chunk.length;
      yield chunk;
    }
  }
  const target: Writable =
    path === STANDARD ? process.stdout : createWriteStream(path, { mode: 0o600, flags: 'wx' });
  try {
    await pipeline(Readable.fromWeb(body as never), counted, target, { end: path !== STANDARD });
    return bytes;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'EEXIST' && path !== STANDARD) await rm(path, { force: true });
    throw new StartupError(
      `The export did not arrive whole (${message}). The Organization stays frozen: export it again, or run portico operator organizations unfreeze.`,
    );
  }
}
