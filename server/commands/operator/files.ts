import { open, rm } from 'node:fs/promises';
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
/** It has secrets, though encrypted. */
const FILE_MODE = 0o600;

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
  // Before the call, which freezes the Organization.
  const file = await opened(path, call.file === 'read' ? 'r' : 'wx');
  const response = await fetch(`${operatorUrl}${request.path}`, {
    method: request.method,
    redirect: 'manual',
    headers: {
      authorization: `Bearer ${token.reveal()}`,
      [TRANSFER_KEY_HEADER]: transferKey.reveal(),
      ...(call.file === 'read' ? { 'content-type': 'application/octet-stream' } : {}),
    },
    ...(call.file === 'read' ? { body: Readable.toWeb(file as Readable), duplex: 'half' } : {}),
  } as RequestInit).catch(async (error: Error) => {
    if (call.file === 'written' && path !== STANDARD) await rm(path, { force: true });
    throw unreachable(operatorUrl, error);
  });
  if (call.file === 'written' && !response.ok && path !== STANDARD) await rm(path, { force: true });
  if (call.file === 'read' || !response.ok) return answerOf(response, operatorUrl, request.path);
  const bytes = await written(response, file as Writable, path);
  return { ok: true, body: { file: path, bytes } };
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

async function answerOf(response: Response, baseUrl: string, path: string): Promise<CallResponse> {
  try {
    return { ok: response.ok, body: JSON.parse(await response.text()) };
  } catch {
    throw notPortico(baseUrl, path);
  }
}

/** A file that is not complete is removed. Returns the number of bytes. */
async function written({ body }: Response, target: Writable, path: string): Promise<number> {
  let bytes = 0;
  async function* counted(source: AsyncIterable<Uint8Array>) {
    for await (const chunk of source) {
      bytes += chunk.length;
      yield chunk;
    }
  }
  try {
    await pipeline(Readable.fromWeb(body as never), counted, target, { end: path !== STANDARD });
    return bytes;
  } catch (error) {
    if (path !== STANDARD) await rm(path, { force: true });
    throw new StartupError(
      `The export did not arrive whole (${(error as Error).message}). The Organization stays frozen: export it again, or run portico operator organizations unfreeze.`,
    );
  }
}
