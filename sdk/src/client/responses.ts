import { ApiError, type ApiErrorFields, ConnectionError, ServiceError } from '../errors.ts';
import { ERROR_CLASSES } from '../generated/errors.ts';
import { readRetryAfter } from './retries.ts';
import type { Runtime } from './runtime.ts';

/** An answer with its headers, such as `etag`. */
export type ApiResponse<Data> = {
  data: Data;
  status: number;
  headers: Headers;
  requestId: string | undefined;
};

export async function readJson<Data>(response: Response): Promise<ApiResponse<Data>> {
  const text = await response.text();
  const { status, headers } = response;
  return { data: text === '' ? undefined : parse(text), status, headers, requestId: requestIdOf(response) };
}

export async function readError(response: Response, runtime: Runtime): Promise<ApiError> {
  const { status, headers } = response;
  const body = await response.text().then(parseObject, () => ({}) as Record<string, unknown>);
  const fields: ApiErrorFields = {
    status,
    error: textOf(body.error),
    messageCode: textOf(body.message_code),
    requestId: requestIdOf(response),
    retryAfterSeconds: readRetryAfter(headers.get('retry-after'), runtime.now()),
  };
  const known = Object.hasOwn(ERROR_CLASSES, fields.messageCode) && ERROR_CLASSES[fields.messageCode];
  const Class = known || (status >= 500 ? ServiceError : ApiError);
  const { pathname, host } = new URL(response.url || 'none:/');
  return new Class(textOf(body.message) || `${host}${pathname} returned status ${status}`, fields);
}

function requestIdOf({ headers }: Response): string | undefined {
  return headers.get('x-request-id') ?? undefined;
}

function parse(text: string) {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ConnectionError('The answer is not JSON', { cause });
  }
}

/** A proxy may answer with a page instead of the error body of the service. */
function parseObject(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
