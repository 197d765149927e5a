/** A failed call: an error response of the service, or no response at all. */
export class ApiError extends Error {
  /** 0 when the service could not be reached. */
  readonly status: number;
  readonly code: string;
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    message: string,
    details: { status: number; code: string; requestId?: string | undefined; retryAfterSeconds?: number },
  ) {
    super(message);
    this.status = details.status;
    this.code = details.code;
    this.requestId = details.requestId;
    this.retryAfterSeconds = details.retryAfterSeconds;
  }
}

export function hasCode(error: unknown, ...codes: readonly string[]): error is ApiError {
  return error instanceof ApiError && codes.includes(error.code);
}

export async function errorFromResponse(response: Response): Promise<ApiError> {
  const body = (await response.json().catch(() => ({}))) as { message_code?: string; message?: string };
  const retryAfter = Number(response.headers.get('retry-after'));
  return new ApiError(body.message ?? `The service responded with status ${response.status}.`, {
    status: response.status,
    code: body.message_code ?? 'unknown',
    requestId: response.headers.get('x-request-id') ?? undefined,
    ...(retryAfter > 0 ? { retryAfterSeconds: retryAfter } : {}),
  });
}
