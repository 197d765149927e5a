/** The same document with every local `$ref` replaced by its component; keywords beside a `$ref` win. */
export function inlineReferences<Document extends object>(document: Document): Document {
  /** `within` ends references that lead back to themselves. */
  function inline(value: unknown, within: readonly string[]): unknown {
    if (Array.isArray(value)) return value.map((part) => inline(part, within));
    if (typeof value !== 'object' || value === null) return value;
    const { $ref, ...rest } = value as { $ref?: unknown };
    const own = Object.fromEntries(Object.entries(rest).map(([name, part]) => [name, inline(part, within)]));
    if (typeof $ref !== 'string' || within.includes($ref)) return own;
    return { ...(inline(find($ref), [...within, $ref]) as object), ...own };
  }
  function find(reference: string): unknown {
    const names = reference.replace('#/', '').split('/');
    return names.reduce<unknown>(
      (part, name) => (part as Record<string, unknown> | undefined)?.[name],
      document,
    );
  }
  return inline(document, []) as Document;
}
