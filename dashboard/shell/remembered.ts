/** What this browser looked at last. Names of things only; nothing in here is secret. */
const NAMES = { organization: 'portico.organization', bank: 'portico.bank' } as const;

export function remembered(what: keyof typeof NAMES): string | undefined {
  return localStorage.getItem(NAMES[what]) ?? undefined;
}

export function remember(what: keyof typeof NAMES, guid: string): void {
  localStorage.setItem(NAMES[what], guid);
}
