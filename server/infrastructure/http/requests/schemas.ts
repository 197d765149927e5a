import Type, { type TObject, type TProperties, type TSchema } from 'typebox';

/** Schemas that every module uses. A `title` names the component of the OpenAPI document. */
export const Guid = Type.String({
  title: 'Guid',
  pattern: '^[0-9a-f]{32}$',
  description: 'UUIDv7 as 32 lowercase hexadecimal characters',
  example: '0199e5a4c1b27d3e8f60a1b2c3d4e5f6',
});

export const Timestamp = Type.String({
  title: 'Timestamp',
  format: 'date-time',
  description: 'ISO 8601 date-time in UTC with milliseconds',
});

export const EnvironmentName = Type.Enum(['production', 'sandbox'], {
  title: 'Environment',
  description: 'production or sandbox',
  example: 'sandbox',
});

export const GuidParams = strictObject({ guid: Guid });

/** For objects whose fields are not known beforehand. */
export const AnyObject = Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true });

/** An object that refuses fields it does not know (contract, section 1). */
export function strictObject<P extends TProperties>(properties: P, options: object = {}): TObject<P> {
  return Type.Object(properties, { additionalProperties: false, ...options });
}

/** An object of a request, under its name in the OpenAPI document. */
export function inputSchema<P extends TProperties>(title: string, properties: P): TObject<P> {
  return strictObject(properties, { title });
}

/** An object of a response, under its name in the OpenAPI document. */
export function viewSchema<P extends TProperties>(title: string, properties: P): TObject<P> {
  return Type.Object(properties, { title });
}

/** A name that people give to a thing. */
export function nameSchema(maxLength: number, example: string) {
  const description = `1 to ${maxLength} characters, not only white space`;
  return Type.String({ minLength: 1, maxLength, pattern: '\\S', description, example });
}

const ErrorBody = viewSchema('Error', {
  error: Type.String({ description: 'The class of the error', example: 'bad_request' }),
  message_code: Type.String({
    description: 'The error for your code; values are added, never changed',
    example: 'missing_parameter',
  }),
  message: Type.String({
    description: 'The error for a person; it names the field',
    example: 'name is required',
  }),
});

/** At the token endpoints the message is there under the name of RFC 6749 too. */
const OAuthErrorBody = Type.Object(
  {
    ...ErrorBody.properties,
    error_description: Type.String({ description: 'The same as message', example: 'grant_type is required' }),
  },
  {
    title: 'OAuthError',
    example: {
      error: 'invalid_request',
      message_code: 'invalid_request',
      message: 'grant_type is required',
    },
  },
);

const ERROR_DESCRIPTIONS = {
  400: 'The request is malformed or does not match the schema. The message names the field.',
  401: 'The credentials are missing, malformed, expired or revoked.',
  403: 'The credentials lack a scope, the source address is not allowed, or a limit is reached.',
  404: 'The object does not exist or is not visible to these credentials.',
  408: 'The request did not arrive in time.',
  409: 'The state of the object does not allow this operation.',
  411: 'Content-Length is missing.',
  412: 'The object does not have the ETag of If-Match.',
  413: 'The body is too large.',
  415: 'The content type or the compression of the body is not supported.',
  416: 'The range is outside the content.',
  422: 'The request is well-formed but violates a rule. The message names it.',
  429: 'The rate limit is exceeded, or too many requests or streams are open. Retry after Retry-After seconds.',
  500: 'Internal error, logged under the X-Request-Id of this response.',
  503: 'The service or a part of it is overloaded or unavailable. Retry after Retry-After seconds.',
} as const;

const ERROR_EXAMPLES: Readonly<Record<ErrorStatus, [error: string, code: string, message: string]>> = {
  400: ['bad_request', 'missing_parameter', 'name is required'],
  401: ['unauthorized', 'authentication_failed', 'Signature has expired'],
  403: ['forbidden', 'invalid_scopes', 'This operation needs the scope customers:read'],
  404: ['not_found', 'not_found', 'No resource exists at this URL'],
  408: ['request_timeout', 'request_timeout', 'The request did not arrive in time'],
  409: ['conflict', 'state_conflict', 'The transfer is completed, and cannot become failed'],
  411: ['length_required', 'length_required', 'Content-Length is required: send the size of the file'],
  412: [
    'precondition_failed',
    'precondition_failed',
    'The object does not have the ETag of If-Match; get it again and repeat the change with its new ETag',
  ],
  413: ['payload_too_large', 'payload_too_large', 'The request body must have at most 262144 bytes'],
  415: ['unsupported_media_type', 'unsupported_media_type', 'Content-Type must be application/json'],
  416: [
    'range_not_satisfiable',
    'range_not_satisfiable',
    'The range must start within the 1024 bytes of the file',
  ],
  422: ['unprocessable', 'no_customer', 'customer_guid must be the guid of a customer of this bank'],
  429: ['too_many_requests', 'rate_limit_exceeded', 'Rate limit exceeded; try again in 30 s'],
  500: [
    'internal',
    'internal_error',
    'Internal error; contact support with the X-Request-Id of this response',
  ],
  503: ['unavailable', 'database_unavailable', 'The database is not reachable'],
};

export type ErrorStatus = keyof typeof ERROR_DESCRIPTIONS;

/** The responses of a route: success, and every error status that it may return (400, 500 and 503 always). */
export function answers<Success extends Record<number, TSchema>>(success: Success, ...errors: ErrorStatus[]) {
  return { ...titled(success), ...refusals(ErrorBody, errors) } as Success &
    Record<ErrorStatus, typeof ErrorBody>;
}

export function oauthAnswers<Success extends Record<number, TSchema>>(
  success: Success,
  ...errors: ErrorStatus[]
) {
  return { ...titled(success), ...refusals(OAuthErrorBody, errors) } as Success &
    Record<ErrorStatus, typeof OAuthErrorBody>;
}

const SUCCESS_DESCRIPTIONS: Record<string, string> = {
  200: 'Success.',
  201: 'Created.',
  202: 'Accepted and stored; processing continues in the background.',
  204: 'Success. The response has no body.',
  206: 'The requested range.',
  304: 'The object has an ETag of If-None-Match. The response has no body.',
};

function titled(success: Record<string, object>): Record<string, object> {
  const entries = Object.entries(success);
  return Object.fromEntries(
    entries.map(([status, schema]) => [status, described(schema, SUCCESS_DESCRIPTIONS[status] ?? '')]),
  );
}

/** Adds an error status that all routes of a scope share. */
export function describeAnswer(response: unknown, status: ErrorStatus): void {
  if (typeof response === 'object' && response !== null)
    Object.assign(response, {
      [status]: refusal(ErrorBody, status),
    });
}

function refusals(body: TSchema, errors: readonly ErrorStatus[]): Record<string, object> {
  const statuses = [...new Set([400, ...errors, 500, 503] as const)];
  return Object.fromEntries(statuses.map((status) => [status, refusal(body, status)]));
}

function refusal(body: TSchema, status: ErrorStatus): object {
  const [error, message_code, message] = ERROR_EXAMPLES[status];
  const examples = body === ErrorBody ? { examples: [{ error, message_code, message }] } : {};
  return described({ ...body, ...examples }, ERROR_DESCRIPTIONS[status]);
}

/** The response's own words, apart from the description of its schema. */
function described(schema: object, description: string): object {
  return { 'x-response-description': description, ...schema };
}
