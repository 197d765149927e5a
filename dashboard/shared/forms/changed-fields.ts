/**
 * The fields that differ; the order of a list does not matter. A form that sends back the others as well undoes what
 * somebody else has changed since it was opened.
 */
export function changedFields<Fields extends object>(before: Fields, after: Fields): Partial<Fields> {
  const old = new Map(Object.entries(before));
  const changed = Object.entries(after).filter(([name, value]) => textOf(value) !== textOf(old.get(name)));
  return Object.fromEntries(changed) as Partial<Fields>;
}

function textOf(value: unknown): string {
  const comparable = Array.isArray(value) ? value.map((entry) => JSON.stringify(entry)).toSorted() : value;
  return JSON.stringify(comparable) ?? '';
}
