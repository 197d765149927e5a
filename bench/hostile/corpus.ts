import { type Attack, chunkedRequestOf, requestOf } from './sending.ts';

/** The most expensive requests known within the limits of each route. */
const KIBIBYTE = 1_024;
const MEBIBYTE = 1024 ** 2;
const SMALL_BYTES = 16 * KIBIBYTE;
const JSON_TYPE = { 'content-type': 'application/json' };
const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' };
/** Reserved for the rest of a header block of 16 KiB. */
const HEADER_BYTES = 14 * KIBIBYTE;
const CHUNKED_BYTES = 400_000;
const PIPELINED_REQUESTS = 20_000;

export type Route = {
  method: string;
  path: string;
  fields: readonly string[];
  /** For users only: an API key is rejected before its body is read. */
  isForUsers: boolean;
};

function limitOf(path: string): number {
  if (path === '/api/files') return 11 * MEBIBYTE;
  if (path === '/operator/events') return MEBIBYTE;
  return path.startsWith('/api/') || path.startsWith('/operator/') ? 256 * KIBIBYTE : SMALL_BYTES;
}

/** As many entries as fit into `bytes`, separated by commas. */
function filled(bytes: number, entryOf: (index: number) => string): string {
  const entries: string[] = [];
  for (let index = 0, length = 0; ; index += 1) {
    const entry = entryOf(index);
    length += entry.length + 1;
    if (length > bytes) return entries.join(',');
    entries.push(entry);
  }
}

function bodiesOf({ fields }: Pick<Route, 'fields'>, bytes: number): Record<string, string> {
  const fill = bytes - 64;
  const field = fields[0] ?? 'a';
  return {
    'keys that are numbers': `{${filled(fill, (index) => `"${index}":0`)}}`,
    'keys that are names': `{${filled(fill, (index) => `"k${index}":0`)}}`,
    'objects of 100 keys': `[${filled(fill, (index) => `{${Array.from({ length: 100 }, (_, n) => `"${index}_${n}":0`)}}`)}]`,
    'empty lists': `[${filled(fill, () => '[]')}]`,
    '10,000 entries': `{"${field}":[${filled(Math.min(fill, 30_000), () => '{}')}]}`,
    brackets: '['.repeat(fill),
    'a long text': `{"${field}":"${'a'.repeat(fill)}"}`,
    'spaces in a text': `{"${field}":"${' '.repeat(fill)}"}`,
    'escapes in a text': `{"${field}":"${'\\u0041'.repeat(Math.floor(fill / 6))}"}`,
    'quotes in a text': `{"${field}":"${'\\"'.repeat(Math.floor(fill / 2))}"}`,
    'characters of four bytes': `{"${field}":"${'😀'.repeat(Math.floor(fill / 4))}"}`,
    'a long name': `{"${'a'.repeat(fill)}":0}`,
    'a long number': `{"${field}":${'1'.repeat(fill)}}`,
    'a long fraction': `{"${field}":0.${'1'.repeat(fill)}}`,
    'numbers with exponents': `{"${field}":[${filled(Math.min(fill, 39_000), () => '1e0')}]}`,
    'a repeated name': `{"${field}":[${filled(Math.min(fill, 39_000), () => '{}')}],"${field}":0}`,
    spaces: `${' '.repeat(fill)}{}`,
  };
}

/** All bodies for a route that takes JSON. */
export function attacksOnBody(route: Route, headers: Record<string, string>): Attack[] {
  const { method, path } = route;
  const address = path.replaceAll(/\{\w+\}/g, '0199e5a4c1b27d3e8f60a1b2c3d4e5f6');
  const json = Object.entries(bodiesOf(route, limitOf(path))).map(([name, body]) => ({
    name,
    bytes: requestOf({ method, path: address, headers: { ...JSON_TYPE, ...headers }, body }),
  }));
  const form = path.startsWith('/oauth/') ? attacksOnForm(address) : [];
  const chunked = { method, path: address, headers: { ...JSON_TYPE, ...headers }, bytes: CHUNKED_BYTES };
  return [...json, ...form, { name: 'byte by byte', bytes: chunkedRequestOf(chunked) }];
}

function attacksOnForm(path: string): Attack[] {
  const bodies = {
    'a form of many names': filled(SMALL_BYTES - 64, (index) => `${index}=`).replaceAll(',', '&'),
    'a form of one name': filled(SMALL_BYTES - 64, () => 'a=').replaceAll(',', '&'),
    'a form of ampersands': '&'.repeat(SMALL_BYTES),
    'a form of escapes': `a=${'%41'.repeat(5_000)}`,
  };
  return Object.entries(bodies).map(([name, body]) => ({
    name,
    bytes: requestOf({ method: 'POST', path, headers: FORM_TYPE, body }),
  }));
}

/** Paths, queries and headers, sent without authentication. */
export function attacksOnHead(): Attack[] {
  const of = (name: string, path: string, headers: Record<string, string> = {}): Attack => ({
    name,
    bytes: requestOf({ method: 'GET', path, headers }),
  });
  const long = (text: string) => text.repeat(Math.floor(HEADER_BYTES / text.length));
  return [
    of('slashes', `/${long('/')}x`),
    of('segments', long('/x')),
    of('percent signs', `/${long('%41')}`),
    of('a long parameter', `/api/customers/${long('0')}`),
    of('parameters of a query', `/healthz?${long('a=1&')}`),
    of('ampersands of a query', `/healthz?${long('&')}`),
    of('a query of brackets', `/healthz?${long('a[]=1&')}`),
    of('cookies', '/dashboard/session', { cookie: long('a=1; ') }),
    of('one cookie', '/dashboard/session', { cookie: `portico_session=${long('%41')}` }),
    of('a bearer token', '/api/customers', { authorization: `Bearer ${long('a.')}` }),
    of('a bearer of spaces', '/api/customers', { authorization: `Bearer ${long(' ')}x` }),
    of('hops', '/api/customers', { 'x-forwarded-for': long('198.35.26.96, ') }),
    of('a host', '/healthz', { host: long('a.') }),
    of('a range', '/downloads/0199e5a4c1b27d3e8f60a1b2c3d4e5f6', { range: `bytes=${long('0-1,')}` }),
    of('a content type', '/healthz', { 'content-type': long('a/b;') }),
  ];
}

/** Many requests on one connection, sent before the first response. */
export function attacksByPipelining(headers: Record<string, string>): Attack[] {
  const of = (name: string, path: string, more: Record<string, string> = {}): Attack => ({
    name,
    bytes: Buffer.concat([
      ...Array.from({ length: PIPELINED_REQUESTS }, () =>
        requestOf({ method: 'GET', path, headers: { connection: 'keep-alive', ...more } }),
      ),
      requestOf({ method: 'GET', path, headers: more }),
    ]),
  });
  return [
    of('requests of a path that does not exist', '/x'),
    of('requests without a token', '/api/customers'),
    of('requests with a token', '/api/customers/0199e5a4c1b27d3e8f60a1b2c3d4e5f6', headers),
    of('requests for the dashboard', '/dashboard/session'),
  ];
}

/** The longest filters of a list, each also with one invalid character at its end. */
export function attacksOnQuery(headers: Record<string, string>): Attack[] {
  const guids = Array.from({ length: 100 }, (_, index) => index.toString(16).padStart(32, '0')).join(',');
  const words = Array.from({ length: 100 }, () => 'a'.repeat(64)).join(',');
  const path = '/api/subscription_events';
  return [
    `guid=${guids}`,
    `guid=${guids},`,
    `event_type=${words}`,
    `event_type=${words}!`,
    `created_at_gte=${'1'.repeat(HEADER_BYTES)}`,
    `created_at_gte=${'T'.repeat(HEADER_BYTES)}`,
    `page=${'9'.repeat(HEADER_BYTES)}`,
  ].map((query) => ({
    name: `${query.slice(0, 24)}…`,
    bytes: requestOf({ method: 'GET', path: `${path}?${query}`, headers }),
  }));
}

/** Inline files of the maximum size, valid and invalid. */
export function attacksOnFiles(customerGuid: string, headers: Record<string, string>): Attack[] {
  const characters = 10_485_760;
  const fields = {
    type: 'other',
    filename: 'x',
    customer_guid: customerGuid,
    content_type: 'application/json',
  };
  const plain = Buffer.alloc((characters / 4) * 3, '[').toString('base64');
  const contents = {
    'an inline file': plain,
    'an inline file with escaped slashes': '\\/'.repeat(5_500_000),
    'an inline file with escapes and text': 'AAA\\/'.repeat(2_200_000),
    'an inline file with an error at its end': `${plain.slice(0, -4)}AA\u00e9A`,
    'an inline file of padding': '='.repeat(characters),
  };
  return Object.entries(contents).map(([name, data]) => ({
    name,
    bytes: requestOf({
      method: 'POST',
      path: '/api/files',
      headers: { ...JSON_TYPE, ...headers },
      body: `${JSON.stringify(fields).slice(0, -1)},"data":"${data}"}`,
    }),
  }));
}
