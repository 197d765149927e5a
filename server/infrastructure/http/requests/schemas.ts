import Type, { type TObject, type TProperties, type TSchema } from 'typebox';

/** Schemas that all modules share. */
export const Guid = Type.String({
  pattern: '^[0-9a-f]{32}$',
  description: 'UUIDv7 as 32 lowercase hex characters',
  example: '0199e5a4c1b27d3e8f60a1b2c3d4e5f6',
});

export const Timestamp = Type.String({ format: 'date-time', description: 'ISO 8601, UTC, milliseconds' });

export const EnvironmentName = Type.Enum(['production', 'sandbox'], { description: 'production or sandbox' });

export const GuidParams = strictObject({ guid: Guid });

/** An object that refuses fields it does not know (contract, section 1). */
export function strictObject<P extends TProperties>(properties: P, options: object = {}): TObject<P> {
  return Type.Object(properties, { additionalProperties: false, ...options });
}

const ErrorBody = Type.Object({
  error: Type.String(),
  message_code: Type.String(),
  message: Type.String(),
});

/** At the token endpoints the message is there under the name of RFC 6749 too. */
const OAuthErrorBody = Type.Object({ ...ErrorBody.properties, error_description: Type.String() });

const ERROR_DESCRIPTIONS = {
  400: 'The request is malformed or does not fit the schema; the message names the field',
  401: 'No valid token',
  403: 'The token, the address or a limit does not allow it',
  404: 'Nothing here, or nothing that this token may see',
  408: 'The request did not arrive in time',
  409: 'The state of the object forbids it',
  411: 'Content-Length is required',
  413: 'The body is too large',
  415: 'The content type is not accepted',
  416: 'The range is not within the content',
  422: 'Well-formed, but refused by a rule',
  429: 'Rate limit exceeded, or too many calls or streams open; Retry-After says when to call again',
  500: 'A fault of the service, logged under the X-Request-Id of this answer',
  503: 'Overloaded, or a part of the service is away; Retry-After says when to call again',
} as const;

export type ErrorStatus = keyof typeof ERROR_DESCRIPTIONS;

/** The answers of a route: what it gives, and every way in which it may refuse (400, 500 and 503 are everywhere). */
export function answers<Success extends Record<number, TSchema>>(success: Success, ...errors: ErrorStatus[]) {
  return { ...titled(success), ...described(ErrorBody, errors) } as Success &
    Record<ErrorStatus, typeof ErrorBody>;
}

export function oauthAnswers<Success extends Record<number, TSchema>>(
  success: Success,
  ...errors: ErrorStatus[]
) {
  return { ...titled(success), ...described(OAuthErrorBody, errors) } as Success &
    Record<ErrorStatus, typeof OAuthErrorBody>;
}

const SUCCESS_DESCRIPTIONS: Record<string, string> = {
  200: 'Done',
  201: 'Created',
  202: 'Accepted and durable; the work follows',
  204: 'Done; there is nothing to show',
  206: 'The part that was asked for',
};

function titled(success: Record<string, object>): Record<string, object> {
  const entries = Object.entries(success);
  return Object.fromEntries(
    entries.map(([status, schema]) => [status, { description: SUCCESS_DESCRIPTIONS[status], ...schema }]),
  );
}

/** Adds a refusal that all routes of a scope share to the answers of one of them. */
export function describeAnswer(response: unknown, status: ErrorStatus): void {
  if (typeof response === 'object' && response !== null)
    Object.assign(response, {
      [status]: { ...ErrorBody, description: ERROR_DESCRIPTIONS[status] },
    });
}

function described(body: TSchema, errors: readonly ErrorStatus[]): Record<string, object> {
  const statuses = [...new Set([400, ...errors, 500, 503] as const)];
  return Object.fromEntries(
    statuses.map((status) => [status, { ...body, description: ERROR_DESCRIPTIONS[status] }]),
  );
}
