import Type, { type Static } from 'typebox';
import { Timestamp, viewSchema } from '../../../infrastructure/http/requests/schemas.ts';
import { SLOW_MS } from '../queue/lanes/limit.ts';
import type { DetailedAttempt, StoredDelivery } from '../state.ts';

export const ResponseStatus = Type.Integer({ description: 'HTTP status of the response', example: 200 });

const Url = Type.String({
  description: 'The URL at that time; only its origin if the caller may not read subscriptions',
  example: 'https://partner.example/webhooks',
});
const Headers = Type.Record(Type.String(), Type.String());
const Names = Type.Array(Type.String());

export const RequesterView = Type.Object(
  {
    type: Type.Enum(['user', 'application', 'recovery'], {
      title: 'DeliveryRequesterType',
      description: 'A member, a key pair, or a redelivery of many events',
    }),
    id: Type.String({ description: 'The guid of the member or recovery, or the client_id' }),
  },
  { title: 'DeliveryRequester', example: { type: 'user', id: '0199e5a4c1b27d3e8f60a1b2c3d4e5f6' } },
);

export const AttemptView = Type.Object(
  {
    number: Type.Integer({ description: 'Number of the attempt, from 1' }),
    attempted_at: Timestamp,
    duration_ms: Type.Integer({ description: 'Duration in milliseconds', example: 87 }),
    outcome: Type.Enum(['completed', 'timeout', 'unreachable', 'rejected'], {
      title: 'DeliveryOutcome',
      description: 'completed, or the kind of failure',
    }),
    requested_by: Type.Optional({ ...RequesterView, description: 'Absent if the attempt was automatic' }),
    request: Type.Object(
      {
        url: Type.Optional(Url),
        address: Type.Optional(
          Type.String({
            description: 'The resolved address, or the addresses that were tried',
            example: '203.0.113.7',
          }),
        ),
        headers: { ...Headers, description: 'Without those named in hidden and not_recorded' },
        hidden: Type.Optional({ ...Names, description: 'Fields and headers that the role may not see' }),
        not_recorded: Type.Optional({
          ...Names,
          description:
            'Fields and headers that are not stored, such as those of a first attempt that succeeded',
        }),
      },
      { title: 'DeliveryAttemptRequest', example: { headers: { 'content-type': 'application/json' } } },
    ),
    response_status: Type.Optional(ResponseStatus),
    response_headers: Type.Optional({
      ...Headers,
      description: 'Up to 2 KB, without headers that carry credentials',
    }),
    response_excerpt: Type.Optional(
      Type.String({ description: 'The first 1 KB of the response', example: 'ok' }),
    ),
    reason: Type.Optional(
      Type.String({ description: 'Why there was no response', example: 'connection refused' }),
    ),
    slow: Type.Boolean({ description: 'Whether the attempt took longer than 2 seconds' }),
  },
  { title: 'DeliveryAttempt', example: { response_status: 200, response_excerpt: 'ok' } },
);

export const SignedRequestView = viewSchema('SignedDeliveryRequest', {
  method: Type.Literal('POST'),
  url: Type.String({
    description: 'The present URL of the subscription',
    example: 'https://partner.example/webhooks',
  }),
  headers: { ...Headers, description: 'Signed with the present time' },
  body: Type.String({ description: 'The exact bytes of the body', example: '{"guid":"…"}' }),
});

export function viewAttempt(attempt: DetailedAttempt): Static<typeof AttemptView> {
  const { number, duration_ms, outcome, response_status, response_excerpt, reason, request } = attempt;
  const { hidden, notRecorded } = request;
  return {
    number,
    attempted_at: attempt.attempted_at.toISOString(),
    duration_ms,
    outcome,
    ...(attempt.requestedBy && { requested_by: attempt.requestedBy }),
    request: {
      ...(request.url === undefined ? {} : { url: request.url }),
      ...(attempt.address === null ? {} : { address: attempt.address }),
      headers: request.headers,
      ...(hidden.length === 0 ? {} : { hidden: [...hidden] }),
      ...(notRecorded.length === 0 ? {} : { not_recorded: [...notRecorded] }),
    },
    ...(response_status === null ? {} : { response_status }),
    ...(attempt.response_headers === null ? {} : { response_headers: attempt.response_headers }),
    ...(response_excerpt === null ? {} : { response_excerpt }),
    ...(reason === null ? {} : { reason }),
    slow: duration_ms > SLOW_MS,
  };
}

export function requesterOf({
  requested_by_type: type,
  requested_by: id,
}: Pick<StoredDelivery, 'requested_by_type' | 'requested_by'>): Static<typeof RequesterView> | undefined {
  return type === null || id === null ? undefined : { type, id };
}
