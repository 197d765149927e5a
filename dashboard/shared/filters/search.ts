/** What may stand behind the question mark of an address: what is looked at, and the filters of the lists. */
const NAMES = [
  'org',
  'bank',
  'next',
  'after',
  'state',
  'type',
  'object',
  'subscription',
  'banks',
  'from',
  'until',
  'range',
  'kind',
  'action',
  'actor',
  'customer',
] as const;

export type SearchName = (typeof NAMES)[number];
export type Search = Partial<Record<SearchName, string>>;

export function validateSearch(given: Record<string, unknown>): Search {
  const known = NAMES.filter((name) => typeof given[name] === 'string' && given[name] !== '');
  return Object.fromEntries(known.map((name) => [name, given[name]]));
}

/** From page to page one stays with the Organization and its bank; another Organization has other banks. */
export function retainOrganizationAndBank({
  search,
  next,
}: {
  search: Search;
  next: (search: Search) => Search;
}): Search {
  const wanted = next(search);
  const org = wanted.org ?? search.org;
  const bank = wanted.bank ?? (org === search.org ? search.bank : undefined);
  return { ...wanted, ...(org === undefined ? {} : { org }), ...(bank === undefined ? {} : { bank }) };
}

/** Plain text on both sides, so that an address reads as it is meant and a guid never becomes a number. */
export function parseSearch(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text));
}

export function stringifySearch(search: Record<string, unknown>): string {
  const given = Object.entries(search).filter(([, value]) => typeof value === 'string' && value !== '');
  const text = new URLSearchParams(given as [string, string][]).toString();
  return text === '' ? '' : `?${text}`;
}
