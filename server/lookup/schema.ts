import Type, { type Static } from 'typebox';
import { EnvironmentName, Guid, strictObject, viewSchema } from '../infrastructure/http/requests/schemas.ts';

const MAX_TEXT_CHARACTERS = 1_024;
const TYPES = [
  'event',
  'delivery',
  'subscription',
  'file',
  'object',
  'bank',
  'application',
  'member',
  'request',
] as const;

export const LookupQuery = strictObject({
  q: Type.Optional(
    Type.String({
      maxLength: MAX_TEXT_CHARACTERS,
      description: 'A guid, request id, client_id, email address or URL, or a text that contains a guid',
      example: '0199e5a4c1b27d3e8f60a1b2c3d4e5f6',
    }),
  ),
});

const FoundView = viewSchema('LookupMatch', {
  type: Type.Enum([...TYPES], { example: 'event' }),
  guid: { ...Guid, description: 'The guid, client_id or request id' } as typeof Guid,
  name: Type.String({ description: 'Its name for people', example: 'transfer.completed' }),
  detail: Type.Optional(Type.String({ description: 'State, status or address', example: 'completed' })),
  environment: Type.Optional(EnvironmentName),
  bank_guid: Type.Optional(Guid),
  object_type: Type.Optional(
    Type.String({ description: 'Of an object: its name in paths', example: 'transfers' }),
  ),
  subscription_event_guid: Type.Optional({ ...Guid, description: 'Of a delivery: its event' }),
});
export type Found = Static<typeof FoundView>;

export const LookupView = viewSchema('Lookup', { objects: Type.Array(FoundView) });
