import { isDeepStrictEqual } from 'node:util';
import { exampleOf, type Schema } from './schema-examples.ts';

/** Replaces every schema that has a `title` by a reference, and returns the components that the references name. */
export function nameSchemas(holders: readonly { schema?: Schema }[]): ReadonlyMap<string, Schema> {
  const components = new Map<string, Schema>();
  const descriptions = usualDescriptions(holders);

  function referenceTo(schema: Schema): Schema {
    const { title, example: _, ...keywords } = schema;
    const own = withType(mapSubschemas(keywords, referenceTo));
    if (title === undefined) return own;
    const { description, default: byDefault, ...constraints } = own;
    const usual = descriptions.get(title);
    const component = {
      ...constraints,
      ...(usual !== undefined && { description: usual }),
      examples: [exampleOf(schema)],
    };
    const known = components.get(title);
    if (!known) components.set(title, component);
    else if (!isDeepStrictEqual({ ...known, examples: [] }, { ...component, examples: [] }))
      throw new Error(`Two different schemas have the title ${title}`);
    return {
      $ref: `#/components/schemas/${title}`,
      // OpenAPI 3.1 allows both beside a reference: they replace those of the component.
      ...(description !== usual && description !== undefined && { description }),
      ...(byDefault !== undefined && { default: byDefault }),
    };
  }

  for (const holder of holders) if (holder.schema) holder.schema = referenceTo(holder.schema);
  return components;
}

/** TypeBox leaves the type of an enumeration to its values; generators want it said. */
function withType(schema: Schema): Schema {
  const areTexts = schema.enum?.every((value) => typeof value === 'string');
  return areTexts ? { type: 'string', ...schema } : schema;
}

/** By title, the description that most uses have. The others say what the value means in one place. */
function usualDescriptions(holders: readonly { schema?: Schema }[]): ReadonlyMap<string, string | undefined> {
  const found: Schema[] = [];
  const collect = (schema: Schema): Schema => {
    if (schema.title !== undefined) found.push(schema);
    return mapSubschemas(schema, collect);
  };
  for (const { schema } of holders) if (schema) collect(schema);
  const byTitle = Map.groupBy(found, ({ title = '' }) => title);
  return new Map(
    byTitle.entries().map(([title, uses]) => {
      const described = uses.filter(({ description }) => description !== undefined);
      const groups = [...Map.groupBy(described, ({ description }) => description)];
      const [usual] = groups.sort(([, a], [, b]) => b.length - a.length);
      return [title, usual?.[0]];
    }),
  );
}

function mapSubschemas(schema: Schema, map: (schema: Schema) => Schema): Schema {
  const { properties, items, anyOf } = schema;
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, property]) => [name, map(property)]),
      ),
    }),
    ...(items && { items: map(items) }),
    ...(anyOf && { anyOf: anyOf.map(map) }),
  };
}
