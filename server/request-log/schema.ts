import Type, { type Static } from 'typebox';
import { EnvironmentName, Guid, Timestamp, viewSchema } from '../infrastructure/http/requests/schemas.ts';
import { timeOfGuid } from '../infrastructure/runtime/guid.ts';
import { COMPLETE_CALLS } from './sampling.ts';
import type { LoggedRequest } from './store.ts';

const REQUEST_ID = 'The X-Request-Id of the response';

export const LoggedRequestView = viewSchema('LoggedRequest', {
  request_id: { ...Guid, description: REQUEST_ID } as typeof Guid,
  created_at: { ...Timestamp, description: 'When the request arrived' } as typeof Timestamp,
  environment: Type.Optional(EnvironmentName),
  method: Type.String({ example: 'GET' }),
  path: Type.String({
    description: 'The pattern of the path, without guids and query',
    example: '/api/transfers/{guid}',
  }),
  object_guid: Type.Optional({ ...Guid, description: 'The guid in the path' }),
  status: Type.Integer({ example: 404 }),
  message_code: Type.Optional(
    Type.String({ description: 'message_code of the error', example: 'not_found' }),
  ),
  duration_ms: Type.Integer({ description: 'Until the last byte of the response', example: 4 }),
  token_type: Type.Optional(
    Type.String({
      description: 'organization, bank, customer or user; absent at /oauth',
      example: 'organization',
    }),
  ),
  client_id: Type.Optional({ ...Guid, description: 'The key; for a customer token the key it came from' }),
  application_name: Type.Optional(
    Type.String({ description: 'The present name of the key', example: 'Payments backend' }),
  ),
  member_guid: Type.Optional({ ...Guid, description: 'The member who called through the dashboard' }),
  member_email: Type.Optional(
    Type.String({ description: 'Shown to members only', example: 'ada@partner.example' }),
  ),
  bank_guid: Type.Optional(Guid),
  address: Type.Optional(
    Type.String({ description: 'Source address of the request', example: '198.51.100.7' }),
  ),
  sample_rate: Type.Integer({
    description: `The number of similar calls this one stands for: 1, or 10 or 100 above ${COMPLETE_CALLS} calls a second`,
    example: 1,
  }),
});
export type LoggedRequestBody = Static<typeof LoggedRequestView>;

/** The names behind the ids of a page. */
export type RequestNames = {
  applications: ReadonlyMap<string, string>;
  emails: ReadonlyMap<string, string>;
};

export function viewLoggedRequest(
  request: LoggedRequest,
  { applications, emails }: RequestNames,
): LoggedRequestBody {
  const { guid, organization_guid: _, environment, ...stored } = request;
  const optional = {
    object_guid: stored.object_guid,
    message_code: stored.message_code,
    token_type: stored.token_type,
    client_id: stored.client_id,
    application_name: applications.get(stored.client_id ?? ''),
    member_guid: stored.member_guid,
    member_email: emails.get(stored.member_guid ?? ''),
    bank_guid: stored.bank_guid,
    address: stored.address,
    environment: environment === 'both' ? null : environment,
  };
  return {
    request_id: guid,
    created_at: timeOfGuid(guid).toISOString(),
    method: stored.method,
    path: stored.path,
    status: stored.status,
    duration_ms: stored.duration_ms,
    sample_rate: stored.sample_rate,
    ...(Object.fromEntries(Object.entries(optional).filter(([, value]) => value != null)) as object),
  };
}
