/** Every error of the client. `instanceof` a class below it tells more. */
export class PorticoError extends Error {
  override name = 'PorticoError';
  /**
   * Of a creation that failed. It may be done nevertheless, for example when the connection broke: repeat it with this
   * key, and it is done once.
   */
  declare readonly idempotencyKey?: string;
}

/** The client was created with options that cannot work, or the token issuer is not that of the environment. */
export class ConfigurationError extends PorticoError {
  override name = 'ConfigurationError';
}

/** No answer: DNS, connection or TLS failed. `cause` has the reason. */
export class ConnectionError extends PorticoError {
  override name = 'ConnectionError';
}

/** No complete answer within `timeoutMs`. */
export class TimeoutError extends ConnectionError {
  override name = 'TimeoutError';
}

/** The answer of the service was an error. */
export class ApiError extends PorticoError {
  /** The HTTP status. */
  readonly status: number;
  /** The class of the error; at the token endpoints the code of OAuth 2.0. */
  readonly error: string;
  /** For decisions in your program; stable. Empty if a proxy has answered instead of the service. */
  readonly messageCode: string;
  /** Quote it when you contact the operator, and look it up in the request log. */
  readonly requestId: string | undefined;
  /** The seconds to wait before another try, if the service named them. */
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, { status, error, messageCode, requestId, retryAfterSeconds }: ApiErrorFields) {
    super(message);
    this.name = nameOf(messageCode);
    this.status = status;
    this.error = error;
    this.messageCode = messageCode;
    this.requestId = requestId;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export type ApiErrorFields = {
  status: number;
  error: string;
  messageCode: string;
  requestId: string | undefined;
  retryAfterSeconds: number | undefined;
};

/** The request is not valid: correct it. */
export class BadRequestError extends ApiError {}
/** The token or the key pair is not valid. */
export class AuthenticationError extends ApiError {}
/** The token or the key pair may not do this. */
export class PermissionError extends ApiError {}
/** The state does not allow the change. */
export class ConflictError extends ApiError {}
/** The request is well-formed, and refused by a rule. */
export class UnprocessableError extends ApiError {}
/** The service failed or is not available. */
export class ServiceError extends ApiError {}

/** The name of the class for a code, also where a minifier has shortened it. */
function nameOf(messageCode: string): string {
  const words = messageCode.replace(/_?error$/, '').split('_');
  return `${words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('') || 'Api'}Error`;
}
