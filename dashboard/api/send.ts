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

/** One call, answered with JSON, nothing (204) or a Problem that is thrown. */
export async function send<Body>(request: Request): Promise<Body> {
  const response = await sendRaw(request);
  return (response.status === 204 ? undefined : await response.json()) as Body;
}

/** The same, for answers that are not JSON. */
export async function sendRaw({ method, path, query, body, token, signal }: Request): Promise<Response> {
  const headers = new Headers();
  // Without a body too: it is what no form on another page can send, so calls with the cookie have to.
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
    throw new ApiError('The service cannot be reached. Check the connection and try again.', {
      status: 0,
      code: 'unreachable',
    });
  });
  if (!response.ok) throw await errorFromResponse(response);
  return response;
}

function queryString(query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text === '' ? '' : `?${text}`;
}
