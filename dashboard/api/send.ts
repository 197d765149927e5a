import { ApiError, errorFromResponse } from './api-error.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';
export type Query = Record<string, string | number | boolean | undefined>;

export type Request = {
  method: Method;
  path: string;
  query?: Query | undefined;
  body?: object | undefined;
  token?: string | undefined;
  signal?: AbortSignal | undefined;
};

/** Returns the JSON body, or undefined for 204; throws an ApiError for any other outcome. */
export async function send<Body>(request: Request): Promise<Body> {
  const response = await sendRaw(request);
  return (response.status === 204 ? undefined : await response.json()) as Body;
}

export async function sendRaw({ method, path, query, body, token, signal }: Request): Promise<Response> {
  const headers = new Headers();
  // Also without a body: cross-site forms cannot send this type, so the server requires it (CSRF).
  if (method !== 'GET') headers.set('content-type', 'application/json');
  if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
  const response = await fetch(path + queryString(query), {
    method,
    headers,
    credentials: 'same-origin',
    redirect: 'error',
    body: body === undefined ? null : JSON.stringify(body),
    signal: signal ?? null,
  }).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw unreachable();
  });
  if (!response.ok) throw await errorFromResponse(response);
  return response;
}

export function unreachable(): ApiError {
  return new ApiError('Could not reach the service. Check your connection and try again.', {
    status: 0,
    code: 'unreachable',
  });
}

function queryString(query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text === '' ? '' : `?${text}`;
}
