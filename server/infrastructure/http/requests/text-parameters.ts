import type { Ajv, ErrorObject } from 'ajv';
import { isRepeatable } from './filters.ts';
import { once } from './once.ts';

/** Validation of query strings, path parameters and headers, whose values are text. */
export type Validator = { (value: unknown): boolean; errors?: ErrorObject[] | null };

type Properties = ReadonlyMap<string, { type?: string }>;
type Parameters = Record<string, unknown>;

/** The keyword of a parameter that takes one value and was sent several times. */
export const REPEATED_KEYWORD = 'repeated';

export function compileText(ajv: Ajv, schema: { properties?: object }): Validator {
  const compiled = once(() => ({
    check: ajv.compile(schema),
    properties: new Map(Object.entries(schema.properties ?? {})),
  }));
  const validate: Validator = (values) => {
    const { check, properties } = compiled();
    const parameters = values as Parameters;
    joinRepeated(parameters, properties);
    const error = errorOfText(parameters, properties);
    const isValid = error === undefined && check(parameters);
    validate.errors = error ? [error] : (check.errors ?? null);
    return isValid;
  };
  return validate;
}

/** `state=a&state=b` means `state=a,b`. */
function joinRepeated(parameters: Parameters, properties: Properties): void {
  for (const [name, value] of Object.entries(parameters))
    if (Array.isArray(value) && isRepeatable(properties.get(name) ?? {})) parameters[name] = value.join(',');
}

/** Ajv also reads `0x1f`, `1e3` and ` 7` as integers, and `1e400` as Infinity, which no limit refuses. */
const DECIMAL = /^-?[0-9]{1,31}$/;

/** The first error that Ajv does not find, or describes by a type that is not what is wrong. */
function errorOfText(parameters: Parameters, properties: Properties): ErrorObject | undefined {
  for (const [name, value] of Object.entries(parameters)) {
    const type = properties.get(name)?.type;
    if (Array.isArray(value) && properties.has(name)) return errorOf(name, REPEATED_KEYWORD);
    if (type === 'integer' && typeof value === 'string' && !DECIMAL.test(value))
      return errorOf(name, 'type', { type });
  }
  return undefined;
}

function errorOf(name: string, keyword: string, params = {}): ErrorObject {
  return { keyword, instancePath: `/${name}`, schemaPath: '', params };
}
