export type Customer = { guid: string; name?: CustomerName; type: string };
export type CustomerName = { full?: string; first?: string; middle?: string; last?: string };

export function customerName(name: CustomerName | undefined): string | undefined {
  if (name === undefined) return undefined;
  const parts = [name.full, name.first, name.middle, name.last].filter((part) => part !== undefined);
  return parts.join(' ');
}

/** A customer without a name is recognized by its type and the end of its guid. */
export function customerLabel({ guid, name, type }: Customer): string {
  return customerName(name) ?? `${type} …${guid.slice(-6)}`;
}
