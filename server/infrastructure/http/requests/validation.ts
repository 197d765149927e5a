import { _, Ajv, type ErrorObject, type Options } from 'ajv';
import addFormats from 'ajv-formats';
import type { FastifySchemaCompiler, FastifySchemaValidationError } from 'fastify';
import { Failure } from '../../runtime/failure.ts';
import { compileNullRemoval } from '../bodies/json/nulls.ts';
import {
  DATE_TIME_PATTERN,
  ENVIRONMENTS_PATTERN,
  GUIDS_PATTERN,
  MAX_VALUES_KEYWORD,
  METHODS_PATTERN,
  STATUSES_PATTERN,
  TEXTS_PATTERN,
  values,
  WORDS_PATTERN,
} from './filters.ts';
import { once } from './once.ts';
import { compileText, REPEATED_KEYWORD, type Validator } from './text-parameters.ts';

/**
 * Bodies are not coerced and unknown fields are not dropped (contract, section 1); only `null` counts as absent. Query
 * strings and path parameters are text, so numbers and booleans are parsed from them.
 */
const OPTIONS: Options = {
  ...{ allErrors: false, removeAdditional: false, useDefaults: true },
  // Amounts are numbers or strings of digits, and some fields are required only without another one.
  ...{ strict: true, allowUnionTypes: true, strictRequired: false },
  // Halves the time to compile a schema: the linter of the OpenAPI document checks schemas, and V8 removes unused code.
  ...{ meta: false, validateSchema: false, code: { optimize: false } },
};

export function createValidatorCompiler(): FastifySchemaCompiler<object> {
  const forBodies = withFormats(new Ajv({ ...OPTIONS, coerceTypes: false }));
  const forText = withFormats(new Ajv({ ...OPTIONS, coerceTypes: true }));
  return ({ schema, httpPart }) => {
    if (httpPart === 'body') return compileBody(forBodies, schema);
    return compileText(forText, httpPart === 'headers' ? withLowercaseNames(schema) : schema);
  };
}

/** As Node names the headers of a request. */
function withLowercaseNames(schema: { properties?: object }): object {
  const entries = Object.entries(schema.properties ?? {});
  const properties = Object.fromEntries(entries.map(([name, part]) => [name.toLowerCase(), part]));
  return { ...schema, properties };
}

function compileBody(ajv: Ajv, schema: object): Validator {
  const compiled = once(() => ({ check: ajv.compile(schema), removeNulls: compileNullRemoval(schema) }));
  const validate: Validator = (body) => {
    const { check, removeNulls } = compiled();
    removeNulls?.(body);
    const isValid = check(body);
    // Fastify reads the errors here, as Ajv does.
    validate.errors = check.errors ?? null;
    return isValid;
  };
  return validate;
}

function withFormats(ajv: Ajv): Ajv {
  addFormats.default(ajv, ['date', 'date-time', 'uri', 'email']);
  for (const keyword of ['example', 'x-repeatable']) ajv.addKeyword(keyword);
  ajv.addKeyword({
    keyword: MAX_VALUES_KEYWORD,
    type: 'string',
    schemaType: 'number',
    error: { message: 'has too many values', params: ({ schemaCode }) => _`{limit: ${schemaCode}}` },
    validate: (limit: number, text: string) => (values(text)?.length ?? 0) <= limit,
  });
  return ajv;
}

export type ValidationContext = 'body' | 'querystring' | 'params' | 'headers';

/** The first error of a request, as a failure that names the field. */
export function failureOfValidation(
  errors: readonly FastifySchemaValidationError[],
  context: ValidationContext,
): Failure {
  // An invalid path parameter matches no object: 404, as for every absent object (contract, section 1).
  if (context === 'params') return new Failure('not_found', 'No resource exists at this URL');
  const error = errorToTell(errors as readonly ErrorObject[]);
  if (!error) return new Failure('invalid_parameter', 'The request is not valid');
  const field = fieldName(error.instancePath);
  if (error.keyword === 'required') {
    const name = join(field, String(error.params.missingProperty));
    return new Failure('missing_parameter', `${name} is required`);
  }
  if (error.keyword === 'additionalProperties') {
    const name = join(field, printable(String(error.params.additionalProperty)));
    return new Failure('invalid_parameter', `${name} is not a parameter of this operation`);
  }
  const subject = field === '' ? wholeOf(context) : context === 'headers' ? headerName(field) : field;
  return new Failure('invalid_parameter', `${subject} ${describe(error)}`);
}

/** Of the forms that a field may have, the one with the type of the value tells what is wrong with it. */
function errorToTell(errors: readonly ErrorObject[]): ErrorObject | undefined {
  const [first] = errors;
  const alternative = errors.at(-1);
  if (alternative?.keyword !== 'anyOf') return first;
  const ofForms = errors.slice(0, -1);
  const isOtherType = ({ keyword, instancePath }: ErrorObject) =>
    (keyword === 'type' || keyword === 'anyOf') && instancePath === alternative.instancePath;
  const closest = ofForms.find((error) => !isOtherType(error));
  if (closest || !first) return closest;
  const types = ofForms.map(({ params }) => params.type as string | undefined);
  return { ...first, params: { type: types.filter((type) => type !== undefined && type !== 'null') } };
}

function wholeOf(context: ValidationContext): string {
  return context === 'body' ? 'The request body' : 'The query string';
}

/** `idempotency-key` → `Idempotency-Key` */
function headerName(name: string): string {
  return name.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase());
}

/** `/events/3/guid` → `events[3].guid` */
export function fieldName(instancePath: string): string {
  return instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : join(path, printable(part))), '');
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

const SHOWN_NAME_LENGTH = 64;

/** Quotes text of the caller in a message: bounded, without control characters. */
export function printable(name: string): string {
  return JSON.stringify(name.slice(0, SHOWN_NAME_LENGTH)).slice(1, -1);
}

const AMOUNT_MESSAGE =
  'must be an integer in the smallest unit of the asset, for example 1050 for 10.50 USD, or a string of its digits';

const FORMAT_MESSAGES: Record<string, string> = {
  // A filter accepts both, and its first error is that of the date.
  date: 'must be an ISO 8601 date or date-time, for example 2026-11-15T00:00:00Z',
  'date-time': 'must be an ISO 8601 date-time, for example 2026-11-15T00:00:00Z',
  email: 'must be an email address, for example ada@example.com',
  uri: 'must be an absolute URL, for example https://example.com/webhooks',
};
const PATTERN_MESSAGES: Record<string, string> = {
  '\\S': 'must not be blank',
  '^[ -~]{1,255}$': 'must have 1 to 255 printable ASCII characters',
  '^[0-9a-f]{32}$': 'must be a guid of 32 lowercase hex characters',
  '^[1-9][0-9]{0,37}$': 'must be a positive integer or a string of at most 38 digits, without leading zeros',
  '^(0|[1-9][0-9]{0,37})$': 'must be an integer or a string of at most 38 digits, without leading zeros',
  '^\\+[1-9][0-9]{1,14}$': 'must be a phone number in E.164 form, for example +14155550100',
  '^[A-Z]{2}$': 'must be an ISO 3166-1 country code of two letters, for example US',
  '^[a-z]{2}$': 'must be an ISO 639-1 language code of two letters, for example en',
  '^[A-Z0-9]{2,12}$': 'must be 2 to 12 uppercase letters or digits, for example USD',
  '^[A-Z0-9]{2,12}-[A-Z0-9]{2,12}$': 'must be two assets separated by a dash, for example BTC-USD',
  '^[a-z][a-z0-9_]{0,63}$':
    'must be a name of at most 64 lowercase letters, digits and underscores that starts with a letter',
  '^[a-z_.-]{1,64}$': 'must be 1 to 64 lowercase letters, dots, dashes or underscores',
  '^(true|false)$': 'must be true or false',
  '^https://': 'must be an HTTPS URL',
  [GUIDS_PATTERN]: 'must be a guid of 32 lowercase hex characters, or several separated by commas',
  [WORDS_PATTERN]: 'must be a lowercase word, or several separated by commas',
  [TEXTS_PATTERN]: 'must be a text, or several separated by commas, none of them empty',
  [METHODS_PATTERN]: 'must be a method in capitals, for example POST, or several separated by commas',
  [STATUSES_PATTERN]: 'must be a status such as 404, a class such as 4xx, or several separated by commas',
  [ENVIRONMENTS_PATTERN]: 'must be production, sandbox, or both separated by a comma',
  '^[0-9a-f]{64}$': 'must be 64 lowercase hex characters',
  [DATE_TIME_PATTERN]: 'must be an ISO 8601 date-time, for example 2026-11-15T00:00:00Z',
};

function describe({ keyword, params, message }: ErrorObject): string {
  switch (keyword) {
    case 'type':
      if (isAmountType(params.type)) return AMOUNT_MESSAGE;
      return `must be ${article(params.type as string | string[])}`;
    case 'enum':
      return `must be one of ${(params.allowedValues as unknown[]).join(', ')}`;
    case 'const':
      return `must be ${String(params.allowedValue)}`;
    case 'minLength':
      return params.limit === 1 ? 'must not be empty' : `must have at least ${params.limit} characters`;
    case 'maxLength':
      return `must have at most ${params.limit} characters`;
    case 'minimum':
      return `must be at least ${params.limit}`;
    case 'maximum':
      // A larger number may have lost digits before it arrived.
      if (params.limit === Number.MAX_SAFE_INTEGER)
        return `must be a string of digits above ${params.limit}, for example "10000000000000000"`;
      return `must be at most ${params.limit}`;
    case 'minItems':
      return params.limit === 1 ? 'must not be empty' : `must have at least ${params.limit} entries`;
    case 'maxItems':
      return `must have at most ${params.limit} entries`;
    case MAX_VALUES_KEYWORD:
      return `must have at most ${params.limit} values`;
    case REPEATED_KEYWORD:
      return 'must be sent only once';
    case 'uniqueItems':
      return 'must not repeat an entry';
    case 'format':
      return FORMAT_MESSAGES[params.format as string] ?? `must be a valid ${params.format}`;
    case 'pattern':
      return PATTERN_MESSAGES[params.pattern as string] ?? `must match the pattern ${params.pattern}`;
    case 'anyOf':
      return 'must have one of the documented forms';
    default:
      return message ?? 'is not valid';
  }
}

/** The type of amounts only: every other field has one type. */
function isAmountType(type: unknown): boolean {
  return String(type) === 'integer,string';
}

function article(type: string | string[]): string {
  if (Array.isArray(type)) return type.map(article).join(' or ');
  if (type === 'object') return 'a JSON object';
  return /^[aeio]/.test(type) ? `an ${type}` : `a ${type}`;
}
