type Schema = {
  type?: string | readonly string[];
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: readonly Schema[];
};
type Remove = (value: unknown) => void;

/**
 * Removes each `null` in a field that the schema knows, at any depth: `null` counts as absent (contract, section 1).
 * Unknown fields and list entries are left for the validator to reject, and so is `null` where the schema accepts it.
 */
export function compileNullRemoval(schema: Schema): Remove | undefined {
  if (schema.type === 'array') return ofEntries(schema.items ?? {});
  if (schema.anyOf) return ofForms(schema.anyOf);
  const fields = Object.entries(schema.properties ?? {});
  if (fields.length === 0) return undefined;
  const removals = fields.map(
    ([name, field]) => [name, acceptsNull(field), compileNullRemoval(field)] as const,
  );
  return (value) => {
    if (!isObject(value)) return;
    for (const [name, keepsNull, remove] of removals) {
      if (value[name] === null && !keepsNull) delete value[name];
      else remove?.(value[name]);
    }
  };
}

function acceptsNull({ anyOf }: Schema): boolean {
  return anyOf?.some(({ type }) => type === 'null') ?? false;
}

function ofForms(forms: readonly Schema[]): Remove | undefined {
  const removals = forms.map(compileNullRemoval).filter((remove) => remove !== undefined);
  if (removals.length === 0) return undefined;
  return (value) => {
    for (const remove of removals) remove(value);
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
