import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';

/** Valid and invalid values generated from a JSON Schema, so that tests follow the schemas. */
export type JsonSchema = {
  type?: string;
  enum?: readonly unknown[];
  const?: unknown;
  anyOf?: readonly JsonSchema[];
  pattern?: string;
  format?: string;
  'x-repeatable'?: boolean;
  'x-max-values'?: number;
  minLength?: number;
  minimum?: number;
  minItems?: number;
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  required?: readonly string[];
  minProperties?: number;
  /** The fields that are required unless another one is given. */
  else?: JsonSchema;
  example?: unknown;
  examples?: readonly unknown[];
};

const ajv = new Ajv({ strict: false });
addFormats.default(ajv);

/** By object and by text: the operations of a document repeat most schemas, and compiling one takes milliseconds. */
const validators = {
  byObject: new WeakMap<JsonSchema, ValidateFunction>(),
  byText: new Map<string, ValidateFunction>(),
};

function validatorOf(schema: JsonSchema): ValidateFunction {
  const known = validators.byObject.get(schema);
  if (known) return known;
  const text = JSON.stringify(schema);
  const validator = validators.byText.get(text) ?? ajv.compile(schema);
  validators.byObject.set(schema, validator);
  validators.byText.set(text, validator);
  return validator;
}

export function accepts(schema: JsonSchema, value: unknown): boolean {
  return validatorOf(schema)(value) as boolean;
}

const FORMATS: Record<string, string> = {
  'date-time': '2026-11-15T12:00:00.000Z',
  uri: 'https://partner.example/hook',
  email: 'someone@partner.example',
};

/** One valid value. A schema that is not supported here throws: give it an `example`, or extend this. */
export function sampleOf(schema: JsonSchema): unknown {
  const sample = guess(schema);
  if (!accepts(schema, sample)) throw new Error(`no sample for ${JSON.stringify(schema)}`);
  return sample;
}

function guess(schema: JsonSchema): unknown {
  const example = schema.example ?? schema.examples?.[0];
  if (example !== undefined && !schema.properties) return example;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf) return guess(schema.anyOf[0] ?? {});
  switch (schema.type) {
    case 'string':
      return FORMATS[schema.format ?? ''] ?? 'x'.repeat(schema.minLength ?? 1);
    case 'integer':
    case 'number':
      return schema.minimum ?? 1;
    case 'boolean':
      return true;
    case 'array':
      return Array.from({ length: schema.minItems ?? 0 }, () => guess(schema.items ?? {}));
    case 'object':
      return guessObject(schema);
    default:
      return 'x';
  }
}

/** The required fields only: a test adds those that it is about. */
function guessObject(schema: JsonSchema): object {
  const { properties = {}, required = [], minProperties = 0, examples, else: otherwise } = schema;
  const example = (examples?.[0] ?? {}) as Record<string, unknown>;
  const names = new Set([
    ...required,
    ...(otherwise?.required ?? []),
    ...Object.keys(properties).slice(0, minProperties),
  ]);
  return Object.fromEntries([...names].map((name) => [name, example[name] ?? guess(properties[name] ?? {})]));
}

const ANY_OBJECT: JsonSchema = { type: 'object' };
const ONE_OF_EACH_TYPE = [null, true, 0, 1.5, -1, '', 'x', [], ['x'], [null], {}, { x: 1 }];

/** Values of each JSON type that the schema does not accept, also as entries of an array. */
export function wrongValues(schema: JsonSchema): unknown[] {
  const entries = schema.items ? wrongValues(schema.items).map((entry) => [entry]) : [];
  return [...ONE_OF_EACH_TYPE, ...entries].filter(
    // An object where one is expected has the right type; it only lacks fields, which has another message.
    (value) => !accepts(schema, value) && !(takesObjects(schema) && accepts(ANY_OBJECT, value)),
  );
}

function takesObjects({ type, anyOf = [] }: JsonSchema): boolean {
  return type === 'object' || anyOf.some(takesObjects);
}
