import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FAILURE_LABELS, TYPE_LABELS } from '../dashboard/pages/files/labels.ts';
import { KINDS } from '../dashboard/pages/sandbox/object-kinds.ts';
import { assetOf } from '../dashboard/pages/sandbox/summary.ts';
import { FILE_TYPES } from '../server/files/file-types.ts';
import { FileView } from '../server/files/schema.ts';
import { endingsOf } from '../server/objects/machine.ts';
import { newObjectSchema } from '../server/objects/schema.ts';
import { OBJECT_TYPES } from '../server/objects/types.ts';

const valuesOf = (schema: unknown) => (schema as { enum?: readonly string[] }).enum;

type Schema = { properties?: Record<string, Schema>; anyOf?: readonly Schema[] };

/** Whether a schema has a field such as `asset` or `name.first`. */
function hasField(properties: unknown, name: string): boolean {
  const [first = '', part] = name.split('.');
  const schema = (properties as Record<string, Schema>)[first];
  if (!schema || part === undefined) return schema !== undefined;
  return [schema, ...(schema.anyOf ?? [])].some((each) => part in (each.properties ?? {}));
}

test('the forms match the schemas of the server', () => {
  assert.deepEqual(KINDS.map(({ path }) => path).sort(), OBJECT_TYPES.map(({ plural }) => plural).sort());
  for (const type of OBJECT_TYPES) {
    const kind = KINDS.find(({ path }) => path === type.plural);
    assert.ok(kind, type.plural);
    const { properties, required = [] } = newObjectSchema(type);
    const needed = [...required, ...(type.customer === 'required' ? ['customer_guid'] : [])];
    const fields = kind.fields.filter((field) => field.required).map(({ name }) => name);
    assert.deepEqual(fields.filter((name) => needed.includes(name)).sort(), needed.sort(), kind.path);
    for (const { name, options } of kind.fields) {
      assert.ok(hasField(properties, name), `${kind.path} have no field ${name}`);
      if (options) assert.deepEqual(options, valuesOf(properties[name]), `${kind.path}: ${name}`);
    }
    const changeable = type.changeable?.filter((name) => name !== 'state') ?? [];
    assert.deepEqual([...(kind.editable ?? [])].sort(), changeable.sort(), kind.path);
    const endings = type.machine ? endingsOf(type.machine) : [];
    for (const ending of kind.outcomes)
      assert.ok(endings.includes(ending), `${kind.path} cannot end as ${ending}`);
  }
  assert.deepEqual(Object.keys(FAILURE_LABELS), valuesOf(FileView.properties.failure_code));
  assert.deepEqual(Object.keys(TYPE_LABELS), FILE_TYPES);
});

test('amounts of a trade are in the traded asset or in the asset that pays for it', () => {
  const assetsOf = (object: object) =>
    ['amount', 'deliver_amount', 'receive_amount', 'fee'].map((name) => assetOf(name, { ...object }));
  assert.deepEqual(assetsOf({ symbol: 'BTC-USD', side: 'buy' }), ['BTC', 'USD', 'BTC', 'USD']);
  assert.deepEqual(assetsOf({ symbol: 'BTC-USD', side: 'sell' }), ['BTC', 'BTC', 'USD', 'USD']);
  assert.deepEqual(assetsOf({ asset: 'EUR', side: 'deposit' }), ['EUR', 'EUR', 'EUR', 'EUR']);
});
