import Type, { type Static } from 'typebox';
import {
  Guid,
  inputSchema,
  nameSchema,
  strictObject,
  Timestamp,
  viewSchema,
} from '../../infrastructure/http/requests/schemas.ts';
import type { SavedFilter } from './store.ts';

const MAX_NAME_CHARACTERS = 64;
const MAX_LIST_CHARACTERS = 64;
const MAX_FILTERS = 20;
const MAX_VALUE_CHARACTERS = 512;

const List = Type.String({
  pattern: `^[a-z_.-]{1,${MAX_LIST_CHARACTERS}}$`,
  description: 'The list of the dashboard that the filters belong to',
  example: 'events',
});
const Filters = Type.Record(
  Type.String({ pattern: '^[a-z_]{1,32}$' }),
  Type.String({ minLength: 1, maxLength: MAX_VALUE_CHARACTERS }),
  {
    additionalProperties: false,
    maxProperties: MAX_FILTERS,
    description: "The query parameters of the list's page",
    example: { type: 'transfer.completed', time: '24h' },
  },
);

export const NewSavedFilter = inputSchema('NewSavedFilter', {
  organization_guid: Guid,
  list: List,
  name: nameSchema(MAX_NAME_CHARACTERS, 'Failed payouts'),
  filters: Filters,
});

export const SavedFilterQuery = strictObject({ organization_guid: Type.Optional(Guid) });

export const SavedFilterView = viewSchema('SavedFilter', {
  guid: Guid,
  organization_guid: Guid,
  list: List,
  name: Type.String({ example: 'Failed payouts' }),
  filters: Filters,
  created_at: Timestamp,
});
export const SavedFilterListView = viewSchema('SavedFilterList', { objects: Type.Array(SavedFilterView) });

export function viewSavedFilter({
  guid,
  organization_guid,
  list,
  name,
  filters,
  created_at,
}: SavedFilter): Static<typeof SavedFilterView> {
  return { guid, organization_guid, list, name, filters, created_at: created_at.toISOString() };
}
