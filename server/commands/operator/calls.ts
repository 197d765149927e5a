import { inlineReferences } from '../../infrastructure/http/openapi/references.ts';
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
  /** Whether the call reads a file or writes one, which `--file` names. */
  file: 'read' | 'written' | undefined;
};

/** Not sent to the service. */
export const FILE_FIELD: Field = {
  name: 'file',
  required: true,
  schema: { type: 'string' },
  description: 'path of the file, or - for standard input or output',
};

type Operation = {
  'x-command'?: string;
  summary?: string;
  parameters?: readonly {
    name: string;
    in: string;
    required?: boolean;
    description?: string;
    schema?: Schema;
  }[];
  requestBody?: { required?: boolean; content?: Content };
  responses?: Readonly<Record<string, { content?: Content }>>;
};
type Content = { 'application/json'?: { schema?: Schema }; 'application/octet-stream'?: object };

export type OpenApiDocument = { paths?: Readonly<Record<string, Readonly<Record<string, Operation>>>> };

/** Every operator's call that the document describes; calls on the same kind of object stand together. */
export function callsOf(document: OpenApiDocument): readonly Call[] {
  const { paths = {} } = inlineReferences(document);
  const calls = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, operation]) => operation['x-command'] !== undefined)
      .map(([method, operation]) => callOf(path, method, operation)),
  );
  return [...Map.groupBy(calls, (call) => call.words[0]).values()].flat();
}

export function kebab(name: string): string {
  return name.replaceAll('_', '-');
}

function callOf(path: string, method: string, operation: Operation): Call {
  const { 'x-command': command = '', summary = '', parameters = [], requestBody } = operation;
  const bodySchema = requestBody?.content?.['application/json']?.schema;
  return {
    words: command.split(' '),
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
    file: fileOf(operation),
  };
}

function fileOf({ requestBody, responses }: Operation): Call['file'] {
  if (requestBody?.content?.['application/octet-stream']) return 'read';
  return responses?.['200']?.content?.['application/octet-stream'] ? 'written' : undefined;
}

function positionalsOf(path: string, parameters: NonNullable<Operation['parameters']>): Call['positionals'] {
  return [...path.matchAll(/([^/]*)\/\{([^}]+)\}/g)].map(([, before = '', name = '']) => {
    const described = parameters.find((parameter) => parameter.in === 'path' && parameter.name === name);
    return { name, label: `<${labelOf(name, before)}>`, description: described?.description ?? '' };
  });
}

/** `/organizations/{guid}` gets the label organization-guid. */
function labelOf(name: string, before: string): string {
  // A type in the singular, as in `/objects/deposit_address/{guid}`, owns nothing.
  const owner = /[^s]s$/.test(before) ? before.replace(/ies$/, 'y').replace(/s$/, '') : '';
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
