type Schema = { type?: string; properties?: Record<string, Schema>; items?: Schema };
type Remove = (value: unknown) => void;

/**
 * Removes each `null` in a field that the schema knows, at any depth: `null` counts as absent (contract, section 1).
 * Unknown fields and list entries are left for the validator to reject.
 */
export function compileNullRemoval(schema: Schema): Remove | undefined {
  if (schema.type === 'array') return ofEntries(schema.items ?? {});
  const fields = Object.entries(schema.properties ?? {});
  if (fields.length === 0) return undefined;
  const removals = fields.map(([name, field]) => [name, compileNullRemoval(field)] as const);
  return (value) => {
    if (!isObject(value)) return;
    for (const [name, remove] of removals) {
      if (value[name] === null) delete value[name];
      else remove?.(value[name]);
    }
  };
}

function ofEntries(items: Schema): Remove | undefined {
  const remove = compileNullRemoval(items);
  if (!remove) return undefined;
  return (value) => {
    if (Array.isArray(value)) for (const entry of value) remove(entry);
  };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
