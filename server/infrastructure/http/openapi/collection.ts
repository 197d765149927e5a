import { inlineReferences } from './references.ts';

/** The keywords of an OpenAPI document that the collection needs. */
type Parameter = {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  example?: unknown;
  schema?: { examples?: unknown[]; enum?: unknown[]; default?: unknown };
};
type Media = { example?: unknown; schema?: { examples?: unknown[] } };
type Operation = {
  summary: string;
  description?: string;
  tags?: string[];
  servers?: { url: string }[];
  security?: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, Media> };
};
type Document = {
  info: { title: string; description: string };
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation>>;
};
/** The name is unique: the script finds the scopes by it. */
type Call = { name: string; path: string; method: string; operation: Operation };

const FORMAT = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';

/** A collection of Postman, which Bruno and Insomnia import too. Each request first gets the token that it needs. */
export function collectionOf(document: object): object {
  const { info, servers, paths } = inlineReferences(document as Document);
  const calls = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...{ name: operation.summary, path, method: method.toUpperCase(), operation },
    })),
  );
  for (const call of calls)
    if (calls.some((other) => other !== call && other.operation.summary === call.operation.summary))
      call.name = `${call.operation.summary} (${call.path})`;
  const tags = [...new Set(calls.map(tagOf))];
  const baseUrl = servers[0]?.url ?? '';
  const [issuer] = paths['/oauth/token']?.post?.servers ?? servers;
  return {
    info: { name: info.title, description: DESCRIPTION, schema: FORMAT },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{token}}', type: 'string' }] },
    variable: [
      { key: 'baseUrl', value: baseUrl },
      { key: 'tokenUrl', value: `${issuer?.url ?? ''}/oauth/token` },
      { key: 'clientId', value: '' },
      { key: 'clientSecret', value: '' },
      { key: 'userToken', value: '' },
      { key: 'token', value: '' },
    ],
    event: [{ listen: 'prerequest', script: { type: 'text/javascript', exec: scriptOf(calls).split('\n') } }],
    item: tags.map((tag) => ({
      name: tag,
      item: calls.filter((call) => tagOf(call) === tag).map(itemOf),
    })),
  };
}

const DESCRIPTION = `Set the variables clientId and clientSecret to a key pair. Before each request a script gets a token with
the scopes of the call, and keeps it until shortly before it expires. tokenUrl selects the environment.
Calls for people need userToken, a token of POST /dashboard/token.`;

function tagOf({ operation }: Call): string {
  return operation.tags?.[0] ?? 'Other';
}

function itemOf({ name, path, method, operation }: Call): object {
  const { description, parameters = [], requestBody, security = [] } = operation;
  const of = (place: string) => parameters.filter((parameter) => parameter.in === place);
  const json = requestBody?.content['application/json'];
  const body = json && (json.example ?? json.schema?.examples?.[0]);
  return {
    name,
    request: {
      method,
      ...(description === undefined ? {} : { description }),
      // Calls with the key pair send it themselves; public ones send nothing.
      ...(security.some((scheme) => 'bearerToken' in scheme) ? {} : { auth: authOf(security) }),
      header: [
        ...(body === undefined ? [] : [{ key: 'Content-Type', value: 'application/json' }]),
        ...of('header').map((parameter) => ({
          ...entryOf(parameter),
          ...(parameter.name === 'Idempotency-Key' ? { value: '{{$guid}}', disabled: false } : {}),
        })),
      ],
      url: {
        raw: `{{baseUrl}}${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
        host: ['{{baseUrl}}'],
        path: path
          .slice(1)
          .replaceAll(/\{(\w+)\}/g, ':$1')
          .split('/'),
        query: of('query').map(entryOf),
        variable: of('path').map(({ name }) => ({ key: name, value: '' })),
      },
      ...(body === undefined
        ? {}
        : {
            body: { mode: 'raw', raw: JSON.stringify(body, null, 2), options: { raw: { language: 'json' } } },
          }),
    },
  };
}

function authOf(security: readonly object[]): object {
  if (!security.some((scheme) => 'clientCredentials' in scheme)) return { type: 'noauth' };
  const basic = [
    { key: 'username', value: '{{clientId}}', type: 'string' },
    { key: 'password', value: '{{clientSecret}}', type: 'string' },
  ];
  return { type: 'basic', basic };
}

/** Optional parameters are listed and not sent. */
function entryOf({ name, description, required = false, example, schema = {} }: Parameter): object {
  const value = example ?? schema.examples?.[0] ?? schema.enum?.[0] ?? schema.default ?? '';
  return { key: name, value: String(value), description: description ?? '', disabled: !required };
}

/**
 * Runs before each request, with one token for each set of scopes. Postman has one lookup for all variables; Bruno
 * translates each of the three to a lookup of its own.
 */
function scriptOf(calls: readonly Call[]): string {
  const scopes = calls.flatMap(({ name, operation: { security = [] } }) => {
    const needed = security.find((scheme) => 'bearerToken' in scheme)?.bearerToken;
    return needed ? [[name, needed.join(' ')]] : [];
  });
  return `const scopes = ${JSON.stringify(Object.fromEntries(scopes), null, 2)};
const scope = scopes[pm.info.requestName];
const get = (name) =>
  pm.variables.get(name) || pm.environment.get(name) || pm.collectionVariables.get(name) || '';
const kept = JSON.parse(get('tokens') || '{}');
const name = [get('tokenUrl'), get('clientId'), scope].join(' ');
if (get('userToken')) pm.variables.set('token', get('userToken'));
else if (scope !== undefined && kept[name] && kept[name].expiresAt > Date.now() + 60000)
  pm.variables.set('token', kept[name].token);
else if (scope !== undefined && !(get('clientId') && get('clientSecret')))
  throw new Error('Set the variables clientId and clientSecret, or userToken.');
else if (scope !== undefined)
  pm.sendRequest(
    {
      url: get('tokenUrl'),
      method: 'POST',
      header: { 'Content-Type': 'application/json' },
      body: {
        mode: 'raw',
        raw: JSON.stringify({
          grant_type: 'client_credentials',
          client_id: get('clientId'),
          client_secret: get('clientSecret'),
          scope,
        }),
      },
    },
    (error, response) => {
      if (error) throw error;
      const body = response.json();
      if (response.code !== 200) throw new Error('No token: ' + body.message);
      kept[name] = { token: body.access_token, expiresAt: Date.now() + body.expires_in * 1000 };
      pm.collectionVariables.set('tokens', JSON.stringify(kept));
      pm.variables.set('token', body.access_token);
    },
  );`;
}
