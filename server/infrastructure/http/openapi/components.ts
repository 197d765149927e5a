import { pascalCase } from './names.ts';
import type { Schema } from './schema-examples.ts';
import { nameSchemas } from './schema-names.ts';

type Media = { schema?: Schema };
type Header = { description: string; schema: Schema };
type Parameter = { name: string; in: string; schema?: Schema };
type Response = { description: string; headers?: object; content?: Record<string, Media> };
type Operation = {
  tags?: string[];
  servers?: object[];
  security?: object[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, Response>;
};
type Operations = Record<string, Record<string, Operation>>;
export type OpenApiDocument = {
  components: {
    schemas: Record<string, Schema>;
    parameters?: Record<string, Parameter>;
    responses?: Record<string, Response>;
    headers?: Record<string, Header>;
  };
  paths: Operations;
  webhooks?: Operations;
};

const HEADERS: Record<string, Header> = {
  RequestId: {
    description: 'Identifies the request in the logs of the service. Include it when you contact support.',
    schema: { type: 'string', examples: ['0199e5a4c1b27d3e8f60a1b2c3d4e5f6'] },
  },
  ETag: {
    description: 'The version of the object, for If-None-Match and If-Match.',
    schema: { type: 'string', examples: ['"Xn2vJ0mZ6sBq8kU1rT4wYc7dLhGfE5aP9iRoNbMxKsQ"'] },
  },
  RetryAfter: {
    description: 'Seconds to wait before the next request.',
    schema: { type: 'integer', minimum: 1, examples: [1] },
  },
  IdempotencyReplayed: {
    description: 'true when this is the kept answer to an earlier request with the same Idempotency-Key.',
    schema: { type: 'string', enum: ['true'] },
  },
};
const ETAG = { ETag: { $ref: '#/components/headers/ETag' } };
const REQUEST_ID = { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } };
const RETRY_AFTER = { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } };
const REPLAYED = { 'Idempotency-Replayed': { $ref: '#/components/headers/IdempotencyReplayed' } };

/** Error statuses of operations that accept an Idempotency-Key. */
const REPEATABLE_DESCRIPTIONS: Readonly<Record<string, string>> = {
  409: 'The state of the object does not allow this operation, a request with this Idempotency-Key is in progress (retry after Retry-After seconds), or its answer showed a secret and was not kept.',
  422: 'The request is well-formed but violates a rule, which the message names, or the Idempotency-Key was used for a different request.',
};

const RESPONSE_NAMES: Readonly<Record<string, string>> = {
  204: 'NoContent',
  304: 'NotModified',
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  408: 'RequestTimeout',
  409: 'Conflict',
  411: 'LengthRequired',
  412: 'PreconditionFailed',
  413: 'PayloadTooLarge',
  415: 'UnsupportedMediaType',
  416: 'RangeNotSatisfiable',
  422: 'UnprocessableContent',
  429: 'TooManyRequests',
  500: 'InternalServerError',
  503: 'ServiceUnavailable',
};

/**
 * Moves what repeats to `components`. A schema with a `title` becomes the component of that name. This happens when
 * the document is made, so that validators and serializers are compiled from schemas without references.
 */
export function moveToComponents(document: OpenApiDocument): OpenApiDocument {
  const { components } = document;
  const operations = [document.paths, document.webhooks ?? {}].flatMap((paths) =>
    Object.values(paths).flatMap((methods) => Object.values(methods)),
  );
  const holders = operations.flatMap(({ parameters = [], requestBody, responses }) => [
    ...parameters,
    ...[requestBody, ...Object.values(responses)].flatMap((body) => Object.values(body?.content ?? {})),
  ]);
  const schemas = nameSchemas(holders);
  const answered = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  for (const operation of answered) describeHeaders(operation);
  components.schemas = sorted(schemas);
  components.parameters = moveRepeated(
    operations.map(({ parameters = [] }) => parameters),
    ({ name, in: place }) => `${pascalCase(name)}${pascalCase(place)}`,
  );
  components.responses = moveRepeated(
    answered.map(({ responses }) => responses),
    nameOfResponse,
  );
  components.headers = HEADERS;
  return document;
}

function describeHeaders({ parameters = [], responses }: Operation): void {
  const isTagged = '304' in responses || '412' in responses;
  const isRepeatable = parameters.some(({ name }) => name === 'Idempotency-Key');
  for (const [status, response] of Object.entries(responses)) {
    response.headers = {
      ...REQUEST_ID,
      ...(isTagged && (status === '200' || status === '304') ? ETAG : {}),
      ...(status === '429' || status === '503' || (isRepeatable && status === '409') ? RETRY_AFTER : {}),
      ...(isRepeatable && status.startsWith('2') ? REPLAYED : {}),
      ...response.headers,
    };
    if (isRepeatable) response.description = REPEATABLE_DESCRIPTIONS[status] ?? response.description;
  }
}

/** Gives each name to its most frequent value and replaces that value by a reference wherever it occurs twice or more. */
function moveRepeated<Value extends object>(
  holders: readonly (Record<string, Value> | Value[])[],
  nameOf: (value: Value, key: string) => string | undefined,
): Record<string, Value> {
  const uses = holders.flatMap((holder) =>
    Object.entries(holder).map(([key, value]) => ({ holder, key, value, text: JSON.stringify(value) })),
  );
  const repeated = Map.groupBy(uses, ({ text }) => text)
    .values()
    .filter((same) => same.length > 1)
    .toArray()
    .sort((a, b) => b.length - a.length);
  const moved = new Map<string, Value>();
  for (const same of repeated) {
    const [{ value, key } = { value: undefined, key: '' }] = same;
    const name = value && nameOf(value, key);
    if (!value || name === undefined || moved.has(name)) continue;
    moved.set(name, value);
    const place = 'in' in value ? 'parameters' : 'responses';
    for (const use of same)
      (use.holder as Record<string, object>)[use.key] = { $ref: `#/components/${place}/${name}` };
  }
  return sorted(moved);
}

/** The token endpoints have errors of their own, named after their schema. */
function nameOfResponse(response: Response, status: string): string | undefined {
  const name = RESPONSE_NAMES[status];
  const prefix = response.description === REPEATABLE_DESCRIPTIONS[status] ? 'Repeatable' : '';
  const schema = response.content?.['application/json']?.schema?.$ref?.split('/').at(-1) ?? '';
  return name && `${schema.replace(/Error$/, '')}${prefix}${name}`;
}

function sorted<Value>(values: ReadonlyMap<string, Value>): Record<string, Value> {
  return Object.fromEntries([...values].sort(([a], [b]) => (a < b ? -1 : 1)));
}
