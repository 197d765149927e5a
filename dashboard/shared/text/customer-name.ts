export type CustomerName = { full?: string; first?: string; middle?: string; last?: string };

export function customerName(name: CustomerName | undefined): string | undefined {
  if (name === undefined) return undefined;
  const parts = [name.full, name.first, name.middle, name.last].filter((part) => part !== undefined);
  return parts.join(' ');
}
