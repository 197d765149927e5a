import { pascalCase } from '../../server/infrastructure/http/openapi/names.ts';

type Schema = { $ref?: string; [keyword: string]: unknown };
type Parameter = {
  $ref?: string;
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema: Schema;
};
type Content = { content?: Record<string, { schema: Schema }> };
type Described = {
  operationId: string;
  summary: string;
  security?: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: Content & { required?: boolean };
  responses: Record<string, Content & { $ref?: string }>;
  'x-token-types'?: string[];
};
export type OpenApi = {
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, Schema>; parameters: Record<string, Parameter> };
};

/** A call that an API key or a customer can make. The schemas are names of components. */
export type Operation = {
  route: string;
  summary: string;
  scopes: readonly string[];
  pathParameters: readonly string[];
  query?: { schema: string; required: boolean };
  body?: { schema: string; required: boolean };
  result?: string;
};

const PROGRAMS = ['organization', 'bank', 'customer'];

/** The calls of programs, and the schemas of their bodies, results and queries. */
export function readOperations({ paths, components }: OpenApi): {
  operations: Operation[];
  schemas: Record<string, Schema>;
} {
  const schemas: Record<string, Schema> = {};
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, described]) => isForPrograms(path, described))
      .map(([method, described]) => read(`${method.toUpperCase()} ${path}`, described)),
  );
  return { operations, schemas: sorted(schemas) };

  function read(route: string, described: Described): Operation {
    const { operationId, summary, security = [], requestBody, responses } = described;
    const parameters = (described.parameters ?? []).map(
      (parameter) =>
        (parameter.$ref ? components.parameters[nameIn(parameter.$ref)] : parameter) as Parameter,
    );
    const query = parameters.filter(({ in: place }) => place === 'query');
    const body = jsonOf(requestBody);
    const success = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1];
    const result = jsonOf(success);
    return {
      ...{ route, summary, scopes: security.flatMap(({ bearerToken = [] }) => bearerToken) },
      pathParameters: parameters.filter(({ in: place }) => place === 'path').map(({ name }) => name),
      ...(query.length > 0 && {
        query: {
          schema: keepQuery(`${pascalCase(operationId)}Query`, query),
          required: query.some(({ required }) => required),
        },
      }),
      ...(body && { body: { schema: keep(body), required: requestBody?.required === true } }),
      ...(result && { result: keep(result) }),
    };
  }

  function keepQuery(name: string, parameters: readonly Parameter[]): string {
    schemas[name] = {
      type: 'object',
      properties: Object.fromEntries(
        parameters.map(({ name: field, schema, description }) => [field, { ...schema, description }]),
      ),
      required: parameters.filter(({ required }) => required).map(({ name: field }) => field),
    };
    for (const { schema } of parameters) keepReferences(schema);
    return name;
  }

  /** A schema of the document with those that it refers to. */
  function keep({ $ref }: Schema): string {
    const name = nameIn($ref ?? '');
    const schema = components.schemas[name];
    if (!schema) throw new Error(`a body is not a named schema: ${$ref}`);
    if (!(name in schemas)) {
      schemas[name] = schema;
      keepReferences(schema);
    }
    return name;
  }

  function keepReferences(schema: unknown): void {
    for (const [, name = ''] of JSON.stringify(schema).matchAll(/"#\/components\/schemas\/(\w+)"/g))
      keep({ $ref: name });
  }
}

function isForPrograms(path: string, { 'x-token-types': types = [], responses }: Described): boolean {
  const isStream = responses[200]?.content?.['text/event-stream'] !== undefined;
  return path.startsWith('/api/') && !isStream && types.some((type) => PROGRAMS.includes(type));
}

function jsonOf(holder: Content | undefined): Schema | undefined {
  return holder?.content?.['application/json']?.schema;
}

function nameIn(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}

function sorted<Value>(values: Record<string, Value>): Record<string, Value> {
  return Object.fromEntries(Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1)));
}
