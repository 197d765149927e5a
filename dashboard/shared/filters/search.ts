/** The query parameters of dashboard URLs: the selection and the filters of lists. */
const NAMES = [
  'org',
  'bank',
  'next',
  'after',
  'state',
  'type',
  'object',
  'subscription',
  'redelivery',
  'banks',
  'time',
  'from',
  'until',
  'range',
  'kind',
  'group',
  'environment',
  'action',
  'actor',
  'customer',
  'delivery_state',
  'guid',
  'request_id',
  'status',
  'method',
  'path',
  'message_code',
  'client_id',
  'address',
] as const;

export type SearchName = (typeof NAMES)[number];
export type Search = Partial<Record<SearchName, string>>;

export function validateSearch(given: Record<string, unknown>): Search {
  const known = NAMES.filter((name) => typeof given[name] === 'string' && given[name] !== '');
  return Object.fromEntries(known.map((name) => [name, given[name]]));
}

/** Links keep the selected Organization, and the bank unless the Organization changes. */
export function retainOrganizationAndBank({
  search,
  next,
}: {
  search: Search;
  next: (search: Search) => Search;
}): Search {
  const target = next(search);
  const org = target.org ?? search.org;
  const bank = target.bank ?? (org === search.org ? search.bank : undefined);
  return { ...target, ...(org === undefined ? {} : { org }), ...(bank === undefined ? {} : { bank }) };
}

/** The router's default parser would turn a guid of digits into a number. */
export function parseSearch(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text));
}

export function stringifySearch(search: Record<string, unknown>): string {
  const given = Object.entries(search).filter(([, value]) => typeof value === 'string' && value !== '');
  const text = new URLSearchParams(given as [string, string][]).toString();
  return text === '' ? '' : `?${text}`;
}
