/** The part of JSON Schema that determines how a value is written on the command line. */
export type Schema = {
  type?: string | readonly string[];
  enum?: readonly unknown[];
  const?: unknown;
  anyOf?: readonly Schema[];
  items?: Schema;
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  description?: string;
  default?: unknown;
  format?: string;
};

/** `mixed`: the schema allows several types, so the value decides. */
type ValueType = 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object' | 'mixed';

export function typeOf(schema: Schema): ValueType {
  const types = new Set(typesOf(schema).filter((type) => type !== 'null'));
  const [type] = types;
  return types.size === 1 ? (type as ValueType) : 'mixed';
}

/** Enumerations have no type of their own. */
function typesOf({ type, enum: choices, const: constant, anyOf }: Schema): readonly string[] {
  if (type !== undefined) return [type].flat();
  if (choices) return choices.map((choice) => typeof choice);
  if (constant !== undefined) return [typeof constant];
  return anyOf?.flatMap(typesOf) ?? ['mixed'];
}

/** For the help: `text`, `production | sandbox`, `list of text` and so on. */
export function describeType(schema: Schema): string {
  if (schema.enum) return schema.enum.join(' | ');
  const type = typeOf(schema);
  switch (type) {
    case 'string':
      return schema.format ?? 'text';
    case 'boolean':
      return 'true | false';
    case 'array':
      return isPlain(schema.items ?? {}) ? `list of ${describeType(schema.items ?? {})}` : 'JSON list';
    case 'object':
      return 'JSON object';
    case 'mixed':
      return 'JSON or text';
    default:
      return type;
  }
}

/** Parses the texts given for one flag. The message of a thrown Error completes "--flag …". */
export function readValue(schema: Schema, texts: readonly string[]): unknown {
  if (typeOf(schema) === 'array') return texts.flatMap((text) => readList(schema.items ?? {}, text));
  const [text = '', ...others] = texts;
  if (others.length > 0) throw new Error('must be given only once');
  return readOne(schema, text);
}

function readList(items: Schema, text: string): readonly unknown[] {
  if (!isPlain(items)) return [parseJson(text)].flat();
  const entries = text.split(',').map((entry) => entry.trim());
  // An empty text clears a list.
  return entries.filter((entry) => entry !== '').map((entry) => readOne(items, entry));
}

function readOne(schema: Schema, text: string): unknown {
  switch (typeOf(schema)) {
    case 'string':
      return text;
    case 'boolean':
      if (text !== 'true' && text !== 'false') throw new Error('must be true or false');
      return text === 'true';
    case 'integer':
      if (!/^-?\d+$/.test(text) || !Number.isSafeInteger(Number(text)))
        throw new Error('must be a whole number');
      return Number(text);
    case 'number':
      if (!/^-?\d+(\.\d+)?$/.test(text)) throw new Error('must be a number');
      return Number(text);
    case 'mixed':
      return jsonOrText(text);
    default:
      return parseJson(text);
  }
}

/** Whether values can be separated by commas. */
function isPlain(schema: Schema): boolean {
  return ['string', 'integer', 'number', 'boolean'].includes(typeOf(schema));
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('must be valid JSON');
  }
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
