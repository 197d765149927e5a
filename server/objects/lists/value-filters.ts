import type { TProperties } from 'typebox';
import { guidsFilter, textsFilter, wordsFilter } from '../../infrastructure/http/requests/filters.ts';
import { MAX_FILES } from '../details.ts';
import type { ObjectType } from '../types.ts';

/** Objects from before the limit of 10 have up to 16. */
const MAX_STORED_LABELS = 16;

type ValueFilter = {
  name: string;
  /** In the parsed filters. */
  key:
    | ('quoteGuid' | 'planGuid' | 'accountGuid' | 'fileGuid')
    | ('label' | 'symbol' | 'asset' | 'transferType' | 'side');
  /** An object matches if one of these details has the value; none for labels. */
  fields: readonly string[];
  /** The details are arrays that contain the value. */
  isArray?: true;
  /** The most values of one object. */
  valuesOfObject: number;
  schema: TProperties[string];
};

/**
 * Filters by values in the details and labels of objects, the narrowest first. An object type has those whose fields it
 * has. `filter_values_of` of migration 0055 extracts the same values.
 */
export const VALUE_FILTERS: readonly ValueFilter[] = [
  byDetail('quote_guid', 'quoteGuid', guidsFilter),
  byDetail('plan_guid', 'planGuid', guidsFilter),
  {
    name: 'account_guid',
    key: 'accountGuid',
    fields: ['account_guid', 'source_account_guid', 'destination_account_guid'],
    valuesOfObject: 3,
    schema: guidsFilter,
  },
  {
    name: 'file_guid',
    key: 'fileGuid',
    fields: ['file_guids'],
    isArray: true,
    valuesOfObject: MAX_FILES,
    schema: guidsFilter,
  },
  {
    name: 'label',
    key: 'label',
    fields: [],
    valuesOfObject: MAX_STORED_LABELS,
    schema: textsFilter('A label without a comma'),
  },
  byDetail('symbol', 'symbol', textsFilter('A symbol, for example BTC-USD')),
  byDetail('asset', 'asset', textsFilter('An asset, for example USD')),
  byDetail('transfer_type', 'transferType', wordsFilter),
  byDetail('side', 'side', wordsFilter),
];

function byDetail(name: string, key: ValueFilter['key'], schema: ValueFilter['schema']): ValueFilter {
  return { name, key, fields: [name], valuesOfObject: 1, schema };
}

export type ValueFilters = { [Key in ValueFilter['key']]?: readonly string[] | undefined };

export function valueFiltersOf({ details }: ObjectType): TProperties {
  const own = VALUE_FILTERS.filter(
    ({ name, fields }) => name === 'label' || fields.some((field) => field in details.properties),
  );
  return Object.fromEntries(own.map(({ name, schema }) => [name, schema]));
}
