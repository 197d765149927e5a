import { createHash } from 'node:crypto';

/** The keywords of JSON Schema that the schemas of the routes use. */
export type Schema = {
  title?: string;
  description?: string;
  type?: string;
  format?: string;
  example?: unknown;
  examples?: unknown[];
  default?: unknown;
  const?: unknown;
  enum?: readonly unknown[];
  minimum?: number;
  items?: Schema;
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: readonly string[];
  $ref?: string;
};

const DATE_TIME = '2026-11-15T12:00:00.000Z';

/**
 * An example of a schema, composed of the examples of its fields. An object with an `example` of its own has the
 * optional fields that it lists and no others, so that fields which exclude each other do not appear together.
 */
export function exampleOf(schema: Schema, path = schema.title ?? ''): unknown {
  if (schema.properties) return exampleOfObject(schema, path);
  if (schema.example !== undefined) return schema.example;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.default !== undefined) return schema.default;
  if (schema.anyOf?.[0]) return exampleOf(schema.anyOf[0], path);
  switch (schema.type) {
    case 'array':
      return [exampleOf(schema.items ?? {}, `${path}[]`)];
    case 'boolean':
      return false;
    case 'integer':
    case 'number':
      return schema.minimum ?? 1;
    case 'object':
      return {};
    default:
      if (schema.format === 'date-time') return DATE_TIME;
      throw new Error(`${path} needs an example`);
  }
}

function exampleOfObject(schema: Schema, path: string): object {
  const { properties = {}, required = [], example, title = '' } = schema;
  const given = (example ?? {}) as Record<string, unknown>;
  const names = Object.keys(properties).filter(
    (name) => example === undefined || name in given || required.includes(name),
  );
  return Object.fromEntries(
    names.map((name) => {
      const property = properties[name] ?? {};
      const value = given[name] ?? exampleOf(property, `${path}.${name}`);
      return [name, property.title === 'Guid' ? guidOf(String(value), name, title) : value];
    }),
  );
}

/** Different objects have different guids, and one object has the same guid in every example. */
function guidOf(guid: string, field: string, title: string): string {
  const name = field === 'guid' ? `${title.replaceAll(/(?<!^)(?=[A-Z])/g, '_').toLowerCase()}_guid` : field;
  return guid.slice(0, -8) + createHash('sha256').update(name).digest('hex').slice(0, 8);
}
