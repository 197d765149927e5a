/**
 * A domain failure: a value that a service returns. Throwing is for bugs. `infrastructure/http/errors.ts` maps every
 * code to its status.
 */
export type FailureCode =
  | 'authentication_malformed'
  | 'authentication_failed'
  | 'ip_not_allowed'
  | 'invalid_scopes'
  | 'feature_not_enabled'
  | 'rate_limit_exceeded'
  | 'api_rate_limit_exceeded'
  | 'invalid_parameter'
  | 'missing_parameter'
  | 'malformed_json'
  | 'not_found'
  | 'method_not_allowed'
  | 'unsupported_media_type'
  | 'payload_too_large'
  | 'request_timeout'
  | 'headers_too_large'
  | 'overloaded'
  | 'database_unavailable'
  | 'storage_unavailable'
  | 'organization_moving'
  | 'internal_error'
  | 'invalid_request'
  | 'invalid_client'
  | 'unsupported_grant_type'
  | 'invalid_scope'
  | 'invalid_ip_allowlist'
  | 'ip_allowlist_required'
  | 'no_bank'
  | 'no_customer'
  | 'no_object'
  | 'file_not_completed'
  | 'file_in_use'
  | 'plan_not_completed'
  | 'quote_expired'
  | 'quote_used'
  | 'amount_out_of_range'
  | 'not_implemented'
  | 'subscription_protected'
  | 'application_limit_reached'
  | 'bank_limit_reached'
  | 'subscription_limit_reached'
  | 'invalid_https_url'
  | 'unknown_organization'
  | 'delivery_not_retryable'
  | 'recovery_limit_reached'
  | 'event_conflict'
  | 'idempotency_in_progress'
  | 'idempotency_secret_shown'
  | 'idempotency_key_reused'
  | 'object_conflict'
  | 'state_conflict'
  | 'rotation_pending'
  | 'signature_invalid'
  | 'upload_expired'
  | 'download_expired'
  | 'content_type_mismatch'
  | 'upload_completed'
  | 'upload_in_progress'
  | 'pending_files_limit_reached'
  | 'length_required'
  | 'range_not_satisfiable'
  | 'csrf_refused'
  | 'totp_required'
  | 'totp_invalid'
  | 'totp_enabled'
  | 'password_too_weak'
  | 'password_incorrect'
  | 'proof_required'
  | 'second_factor_required'
  | 'code_incorrect'
  | 'passkey_invalid'
  | 'passkey_limit_reached'
  | 'account_exists'
  | 'member_exists'
  | 'member_limit_reached'
  | 'saved_filter_limit_reached'
  | 'inbox_limit_reached'
  | 'precondition_failed'
  | 'last_founder';

export class Failure {
  readonly code: FailureCode;
  readonly message: string;
  /** Sent as `Retry-After`. */
  readonly retryAfterSeconds: number | undefined;
  /** Sent with `insufficient_scope` in `WWW-Authenticate`: the required scopes, separated by spaces. */
  readonly scope: string | undefined;

  constructor(
    code: FailureCode,
    message: string,
    options: { retryAfterSeconds?: number; scope?: string } = {},
  ) {
    this.code = code;
    this.message = message;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.scope = options.scope;
  }
}

/** Checked on the locked row in the transaction of a change, so that of two concurrent changes only one passes. */
export type Precondition<Row> = (current: Row) => Failure | undefined;

export function isFailure(value: unknown): value is Failure {
  return value instanceof Failure;
}
