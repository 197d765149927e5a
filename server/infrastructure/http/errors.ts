import { Failure, type FailureCode, isFailure } from '../runtime/failure.ts';

type Answer = { status: number; error: string; messageCode?: string };

/** Maps each failure code to its status and `error` (contract, section 4). */
const ANSWERS = {
  authentication_malformed: { status: 401, error: 'unauthorized' },
  authentication_failed: { status: 401, error: 'unauthorized' },
  totp_required: { status: 401, error: 'unauthorized' },
  totp_invalid: { status: 401, error: 'unauthorized' },
  csrf_refused: { status: 403, error: 'forbidden' },
  ip_not_allowed: { status: 403, error: 'forbidden' },
  invalid_scopes: { status: 403, error: 'forbidden' },
  feature_not_enabled: { status: 403, error: 'forbidden' },
  rate_limit_exceeded: { status: 403, error: 'forbidden' },
  proof_required: { status: 403, error: 'forbidden' },
  second_factor_required: { status: 403, error: 'forbidden' },
  signature_invalid: { status: 403, error: 'forbidden' },
  upload_expired: { status: 403, error: 'forbidden' },
  download_expired: { status: 403, error: 'forbidden' },
  content_type_mismatch: { status: 403, error: 'forbidden' },
  invalid_parameter: { status: 400, error: 'bad_request' },
  missing_parameter: { status: 400, error: 'bad_request' },
  malformed_json: { status: 400, error: 'bad_request' },
  invalid_request: { status: 400, error: 'invalid_request' },
  invalid_client: { status: 401, error: 'invalid_client' },
  unsupported_grant_type: { status: 400, error: 'unsupported_grant_type' },
  invalid_scope: { status: 400, error: 'invalid_scope' },
  rotation_pending: { status: 409, error: 'conflict' },
  subscription_protected: { status: 409, error: 'conflict' },
  delivery_not_retryable: { status: 409, error: 'conflict' },
  event_conflict: { status: 409, error: 'conflict' },
  idempotency_in_progress: { status: 409, error: 'conflict' },
  idempotency_secret_shown: { status: 409, error: 'conflict' },
  idempotency_key_reused: { status: 422, error: 'unprocessable' },
  file_in_use: { status: 409, error: 'conflict' },
  upload_completed: { status: 409, error: 'conflict' },
  upload_in_progress: { status: 409, error: 'conflict' },
  object_conflict: { status: 409, error: 'conflict' },
  state_conflict: { status: 409, error: 'conflict' },
  quote_used: { status: 409, error: 'conflict' },
  last_founder: { status: 409, error: 'conflict' },
  member_exists: { status: 409, error: 'conflict' },
  account_exists: { status: 409, error: 'conflict' },
  totp_enabled: { status: 409, error: 'conflict' },
  password_too_weak: { status: 422, error: 'unprocessable' },
  password_incorrect: { status: 422, error: 'unprocessable' },
  code_incorrect: { status: 422, error: 'unprocessable' },
  passkey_invalid: { status: 422, error: 'unprocessable' },
  passkey_limit_reached: { status: 422, error: 'unprocessable' },
  member_limit_reached: { status: 422, error: 'unprocessable' },
  saved_filter_limit_reached: { status: 422, error: 'unprocessable' },
  inbox_limit_reached: { status: 422, error: 'unprocessable' },
  invalid_ip_allowlist: { status: 422, error: 'unprocessable' },
  ip_allowlist_required: { status: 422, error: 'unprocessable' },
  no_bank: { status: 422, error: 'unprocessable' },
  no_customer: { status: 422, error: 'unprocessable' },
  no_object: { status: 422, error: 'unprocessable' },
  file_not_completed: { status: 422, error: 'unprocessable' },
  plan_not_completed: { status: 422, error: 'unprocessable' },
  quote_expired: { status: 422, error: 'unprocessable' },
  amount_out_of_range: { status: 422, error: 'unprocessable' },
  not_implemented: { status: 422, error: 'unprocessable' },
  application_limit_reached: { status: 422, error: 'unprocessable' },
  bank_limit_reached: { status: 422, error: 'unprocessable' },
  subscription_limit_reached: { status: 422, error: 'unprocessable' },
  pending_files_limit_reached: { status: 422, error: 'unprocessable' },
  recovery_limit_reached: { status: 422, error: 'unprocessable' },
  invalid_https_url: { status: 422, error: 'unprocessable' },
  unknown_organization: { status: 422, error: 'unprocessable' },
  not_found: { status: 404, error: 'not_found' },
  method_not_allowed: { status: 405, error: 'method_not_allowed' },
  request_timeout: { status: 408, error: 'request_timeout' },
  length_required: { status: 411, error: 'length_required' },
  precondition_failed: { status: 412, error: 'precondition_failed' },
  payload_too_large: { status: 413, error: 'payload_too_large' },
  unsupported_media_type: { status: 415, error: 'unsupported_media_type' },
  range_not_satisfiable: { status: 416, error: 'range_not_satisfiable' },
  headers_too_large: { status: 431, error: 'headers_too_large' },
  // The token endpoints answer a rate limit with 403 (specification, Errors), the other routes with 429.
  api_rate_limit_exceeded: {
    status: 429,
    error: 'too_many_requests',
    messageCode: 'rate_limit_exceeded',
  },
  internal_error: { status: 500, error: 'internal' },
  overloaded: { status: 503, error: 'unavailable' },
  database_unavailable: { status: 503, error: 'unavailable' },
  storage_unavailable: { status: 503, error: 'unavailable' },
  organization_moving: { status: 503, error: 'unavailable' },
} as const satisfies Record<FailureCode, Answer>;

export type ErrorAnswer = {
  status: number;
  body: { error: string; message_code: string; message: string };
};

/** The statuses of all errors, each once. */
export function errorStatuses(): number[] {
  return [...new Set(Object.values(ANSWERS).map(({ status }) => status))];
}

export function answerFor(failure: Failure): ErrorAnswer {
  const { status, error, messageCode = failure.code }: Answer = ANSWERS[failure.code];
  return { status, body: { error, message_code: messageCode, message: failure.message } };
}

/** Carries a failure from a route to the error handler. */
export class FailureError extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** Returns the value, or throws the failure for the error handler. */
export function unwrap<T>(result: T | Failure): T {
  if (isFailure(result)) throw new FailureError(result);
  return result;
}

/** At the token endpoints an invalid request is `invalid_request` (RFC 6749, section 5.2). */
export function oauthFailure(failure: Failure): Failure {
  const misfits: readonly FailureCode[] = ['invalid_parameter', 'missing_parameter', 'malformed_json'];
  return misfits.includes(failure.code) ? new Failure('invalid_request', failure.message) : failure;
}

type FrameworkError = { code?: string; statusCode?: number; message?: string };

/** Failures that Fastify and Node detect, in the format of the contract. The token endpoints accept forms, too. */
export function failureOfFramework(
  { code, statusCode }: FrameworkError,
  { forms = false } = {},
): Failure | undefined {
  switch (code) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new Failure(
        'unsupported_media_type',
        forms
          ? 'Content-Type must be application/json or application/x-www-form-urlencoded'
          : 'Content-Type must be application/json',
      );
    case 'FST_ERR_BAD_URL':
      return new Failure('invalid_parameter', 'The path must be validly percent-encoded');
    // A parameter longer than any guid cannot match an object.
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new Failure('not_found', 'No resource exists at this URL');
    case 'HPE_HEADER_OVERFLOW':
      return new Failure('headers_too_large', 'The request headers must have at most 16 KiB');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Failure('request_timeout', 'The request did not arrive in time; send it again');
    default:
      return isCallersFault(statusCode)
        ? new Failure('invalid_parameter', 'The request is malformed; send valid HTTP/1.1')
        : undefined;
  }
}

/** A 4xx status of Fastify means an invalid request, also for codes that a later version adds. */
function isCallersFault(statusCode: number | undefined): boolean {
  return statusCode !== undefined && statusCode >= 400 && statusCode < 500;
}

/**
 * SQLSTATEs of a value that PostgreSQL rejects. The schemas should reject it first and name the field; a value that
 * passes them is still an invalid request, not an internal error.
 */
const REFUSED_VALUES: ReadonlySet<string> = new Set([
  '22001', // string_data_right_truncation
  '22003', // numeric_value_out_of_range
  '22007', // invalid_datetime_format
  '22008', // datetime_field_overflow
  '22021', // character_not_in_repertoire
  '22P02', // invalid_text_representation
  '22P05', // untranslatable_character
  '54000', // program_limit_exceeded: a text too long for an index
]);

export function failureOfRefusedValue(error: unknown): Failure | undefined {
  const { code, severity } = error as { code?: unknown; severity?: unknown };
  if (severity === undefined || typeof code !== 'string' || !REFUSED_VALUES.has(code)) return undefined;
  return new Failure('invalid_parameter', 'A value of the request cannot be stored; shorten or correct it');
}
