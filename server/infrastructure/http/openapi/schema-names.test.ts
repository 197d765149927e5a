import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inlineReferences } from './references.ts';
import type { Schema } from './schema-examples.ts';
import { nameSchemas } from './schema-names.ts';

const guid = { title: 'Guid', type: 'string', description: 'An id', example: 'a1' };

function named(...schemas: Schema[]) {
  const holders = schemas.map((schema) => ({ schema }));
  const components = Object.fromEntries(nameSchemas(holders));
  return { components, used: holders.map(({ schema }) => schema) };
}

test('a schema with a title becomes a component with an example composed of its fields', () => {
  const thing = { title: 'Thing', type: 'object', properties: { id: guid, on: { type: 'boolean' } } };
  const { components, used } = named(thing, { type: 'array', items: thing });
  const reference = { $ref: '#/components/schemas/Thing' };
  assert.deepEqual(used, [reference, { type: 'array', items: reference }]);
  assert.deepEqual(components.Guid, { type: 'string', description: 'An id', examples: ['a1'] });
  assert.deepEqual(Object.keys(components.Thing?.properties ?? {}), ['id', 'on']);
  assert.deepEqual(Object.keys((components.Thing?.examples?.[0] ?? {}) as object), ['id', 'on']);
});

test('a use with another description keeps it beside the reference', () => {
  const { components, used } = named(guid, guid, { ...guid, description: 'The owner' });
  assert.deepEqual(used.at(-1), { $ref: '#/components/schemas/Guid', description: 'The owner' });
  assert.equal(components.Guid?.description, 'An id');
  const { schema } = inlineReferences({ components: { schemas: components }, schema: used.at(-1) });
  assert.deepEqual(schema, { ...components.Guid, description: 'The owner' });
});

test('two different schemas cannot have one title', () => {
  assert.throws(
    () => named(guid, { ...guid, minLength: 32 } as Schema),
    /Two different schemas have the title Guid/,
  );
});

test('a text without an example is refused by its path', () => {
  const thing = { title: 'Thing', type: 'object', properties: { name: { type: 'string' } } };
  assert.throws(() => named(thing), /Thing\.name needs an example/);
});

test('a reference that leads back to itself ends', () => {
  const node = { properties: { parent: { $ref: '#/node' } } };
  assert.deepEqual(inlineReferences({ node }), {
    node: { properties: { parent: { properties: { parent: {} } } } },
  });
});
