import { pascalCase } from '../../server/infrastructure/http/openapi/names.ts';
import { EVENT_TYPES } from '../../server/webhooks/events/catalogue.ts';
import { objectOf } from '../../server/webhooks/events/descriptions.ts';
import type { Operation } from './operations.ts';

const IMPORTS = `import type { List } from '../client/lists.ts';
import type { Filters } from '../client/resources.ts';
import type { CreateOptions, RequestOptions, UpdateOptions } from '../client/transport.ts';
import type { Schemas } from './schema.ts';
`;

/** It is `customers.token()`. */
const CUSTOMER_TOKENS = 'POST /api/customer_tokens';

/** The resources with their functions, and every call by its route. */
export function resourcesSource(operations: readonly Operation[]): string {
  const byResource = Map.groupBy(
    operations.filter((operation) => operation.route !== CUSTOMER_TOKENS && functionOf(operation)),
    ({ route }) => route.split('/')[2] ?? '',
  );
  const names = [...byResource.keys()].sort();
  return [
    IMPORTS,
    ...names.map((name) => interfaceOf(name, byResource.get(name) ?? [])),
    `export type Resources = {\n${names.map((name) => `  ${camelCase(name)}: ${interfaceName(name)};\n`).join('')}};\n`,
    `export const RESOURCE_NAMES = ${JSON.stringify(names)} as const;\n`,
    `/** The objects that events are about, by the first part of their type. */\nexport type EventObjects = {\n${eventObjects(operations)}};\n`,
    `export type Operations = {\n${operations.map(entryOf).join('')}};\n`,
  ].join('\n');
}

function interfaceOf(name: string, operations: readonly Operation[]): string {
  const functions = operations.map((operation) => `${commentOf(operation)}  ${functionOf(operation)};\n`);
  return `type ${interfaceName(name)} = {\n${functions.join('')}};\n`;
}

/** Undefined for calls that only \`request\` makes. */
function functionOf({ route, query, body, result, pathParameters }: Operation): string | undefined {
  const [method, path = ''] = route.split(' ');
  const [, , , ...rest] = path.split('/');
  const returned = result ? schema(result) : 'void';
  if (rest.length === 0) {
    if (method === 'POST')
      return `create(${bodyArgument(body)}options?: CreateOptions): Promise<${returned}>`;
    if (method === 'GET' && query && result?.endsWith('Page'))
      return `list(filters?: Filters<${schema(query.schema)}>, options?: RequestOptions): List<${schema(result)}['objects'][number]>`;
    return undefined;
  }
  const [id] = pathParameters;
  if (rest.length > 1 || rest[0] !== `{${id}}`) return undefined;
  const options = query ? `options?: RequestOptions & ${schema(query.schema)}` : 'options?: RequestOptions';
  if (method === 'GET') return `get(${id}: string, ${options}): Promise<${returned}>`;
  if (method === 'PATCH' && body)
    return `update(${id}: string, changes: ${schema(body.schema)}, options?: UpdateOptions): Promise<${returned}>`;
  if (method === 'DELETE') return `delete(${id}: string, options?: RequestOptions): Promise<${returned}>`;
  return undefined;
}

function bodyArgument(body: Operation['body']): string {
  return body ? `body: ${schema(body.schema)}, ` : 'body?: undefined, ';
}

function entryOf(operation: Operation): string {
  const { route, pathParameters, query, body, result } = operation;
  const parts = [
    ...(pathParameters.length > 0
      ? [`path: { ${pathParameters.map((name) => `${name}: string`).join('; ')} }`]
      : []),
    ...(query ? [`query${query.required ? '' : '?'}: ${schema(query.schema)}`] : []),
    ...(body ? [`body${body.required ? '' : '?'}: ${schema(body.schema)}`] : []),
    `result: ${result ? schema(result) : 'undefined'}`,
  ];
  return `${commentOf(operation)}  '${route}': { ${parts.join('; ')} };\n`;
}

function commentOf({ summary, scopes }: Operation): string {
  const needs = scopes.length > 0 ? ` Scope: ${scopes.map((scope) => `\`${scope}\``).join(', ')}.` : '';
  return `  /** ${summary}.${needs} */\n`;
}

/** Without subscriptions, which programs cannot read. */
function eventObjects(operations: readonly Operation[]): string {
  return [...new Set(EVENT_TYPES.map(objectOf))]
    .flatMap((object) => {
      const get = operations.find(({ route }) => route.startsWith(`GET /api/${object}s/{`));
      return get?.result ? [`  ${object}: ${schema(get.result)};\n`] : [];
    })
    .join('');
}

function schema(name: string): string {
  return `Schemas['${name}']`;
}

function interfaceName(resource: string): string {
  return `${pascalCase(resource)}Resource`;
}

function camelCase(name: string): string {
  return name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
