import type { Schema } from './values.ts';

/** One argument of a call: a path parameter, a query parameter, or a field of the body. */
export type Field = { name: string; required: boolean; schema: Schema; description: string };

export type Call = {
  /** The words after `portico operator`. */
  words: readonly string[];
  summary: string;
  method: string;
  path: string;
  /** In the order of the path, with the labels of the usage line. */
  positionals: readonly { name: string; label: string; description: string }[];
  query: readonly Field[];
  body: { required: boolean; fields: readonly Field[] } | undefined;
};

type Operation = {
  operationId?: string;
  summary?: string;
  parameters?: readonly {
    name: string;
    in: string;
    required?: boolean;
    description?: string;
    schema?: Schema;
  }[];
  requestBody?: { required?: boolean; content?: { 'application/json'?: { schema?: Schema } } };
};

export type OpenApiDocument = { paths?: Readonly<Record<string, Readonly<Record<string, Operation>>>> };

const PREFIX = 'operator.';

/** Every operator's call that the document describes; calls on the same kind of object stand together. */
export function callsOf({ paths = {} }: OpenApiDocument): readonly Call[] {
  const calls = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, operation]) => operation.operationId?.startsWith(PREFIX))
      .map(([method, operation]) => callOf(path, method, operation)),
  );
  return [...Map.groupBy(calls, (call) => call.words[0]).values()].flat();
}

export function kebab(name: string): string {
  return name.replaceAll('_', '-');
}

function callOf(path: string, method: string, operation: Operation): Call {
  const { operationId = '', summary = '', parameters = [], requestBody } = operation;
  const bodySchema = requestBody?.content?.['application/json']?.schema;
  return {
    words: operationId.slice(PREFIX.length).split('.').map(kebab),
    summary,
    method: method.toUpperCase(),
    path,
    positionals: positionalsOf(path, parameters),
    query: parameters
      .filter((parameter) => parameter.in === 'query')
      .map(({ name, required = false, schema = {}, description = '' }) => ({
        name,
        required,
        schema,
        description,
      })),
    body: bodySchema && { required: requestBody?.required ?? false, fields: fieldsOf(bodySchema) },
  };
}

function positionalsOf(path: string, parameters: NonNullable<Operation['parameters']>): Call['positionals'] {
  return [...path.matchAll(/([^/]*)\/\{([^}]+)\}/g)].map(([, before = '', name = '']) => {
    const described = parameters.find((parameter) => parameter.in === 'path' && parameter.name === name);
    return { name, label: `<${labelOf(name, before)}>`, description: described?.description ?? '' };
  });
}

/** `/organizations/{guid}` gets the label organization-guid. */
function labelOf(name: string, before: string): string {
  const owner = /^[a-z_]+s$/.test(before) ? before.replace(/ies$/, 'y').replace(/s$/, '') : '';
  return name === 'guid' && owner !== '' ? kebab(`${owner}-guid`) : kebab(name);
}

function fieldsOf({ properties = {}, required = [] }: Schema): readonly Field[] {
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    required: required.includes(name),
    schema,
    description: schema.description ?? '',
  }));
}
