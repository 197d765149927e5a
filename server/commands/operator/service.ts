import type { Secret } from '../../infrastructure/runtime/secret.ts';
import { StartupError } from '../../infrastructure/runtime/startup-error.ts';
import { type Call, callsOf, type OpenApiDocument } from './calls.ts';
import type { CallRequest } from './request.ts';

/** For the connection, the response and its body together. */
const REQUEST_TIMEOUT_MS = 60_000;
const DOCUMENT_PATH = '/operator/openapi.json';

/** A successful call may have no body; every error has one. */
export type CallResponse = { ok: boolean; body: unknown };

export async function fetchCalls(baseUrl: string): Promise<readonly Call[]> {
  const { ok, body } = await exchange(baseUrl, DOCUMENT_PATH, {});
  const { message } = (body ?? {}) as { message?: unknown };
  if (!ok && typeof message === 'string')
    throw new StartupError(`The service at ${baseUrl} did not return its calls: ${message}`);
  const calls = ok ? callsOf((body ?? {}) as OpenApiDocument) : [];
  if (calls.length === 0) throw notPortico(baseUrl, DOCUMENT_PATH);
  return calls;
}

export function send(
  baseUrl: string,
  token: Secret,
  { method, path, body }: CallRequest,
): Promise<CallResponse> {
  const authorization = `Bearer ${token.reveal()}`;
  return exchange(baseUrl, path, {
    method,
    headers: body === undefined ? { authorization } : { authorization, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body }),
  });
}

async function exchange(baseUrl: string, path: string, init: RequestInit): Promise<CallResponse> {
  const { ok, text } = await request(baseUrl, path, init);
  if (ok && text === '') return { ok, body: undefined };
  try {
    return { ok, body: JSON.parse(text) };
  } catch {
    throw notPortico(baseUrl, path);
  }
}

async function request(
  baseUrl: string,
  path: string,
  init: RequestInit,
): Promise<{ ok: boolean; text: string }> {
  try {
    const response = await fetch(`${baseUrl}${path}`, {
      ...init,
      // A followed redirect could turn a POST into a GET.
      redirect: 'manual',
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    return { ok: response.ok, text: await response.text() };
  } catch (error) {
    throw unreachable(baseUrl, error as Error);
  }
}

export function unreachable(baseUrl: string, { name, cause }: Error): StartupError {
  if (name === 'TimeoutError')
    return new StartupError(
      `The service at ${baseUrl} did not answer within ${REQUEST_TIMEOUT_MS / 1000} seconds.`,
    );
  const { code, message } = (cause ?? {}) as NodeJS.ErrnoException;
  const reason = code ?? message ?? 'no connection';
  return new StartupError(
    `The service at ${baseUrl} cannot be reached (${reason}); start it with npm start, or set PORTICO_OPERATOR_URL`,
  );
}

export function notPortico(baseUrl: string, path: string): StartupError {
  return new StartupError(
    `The service at ${baseUrl}${path} has no operator calls; set PORTICO_OPERATOR_URL to the operator listener of the service.`,
  );
}
