const KEYS = { organization: 'portico.organization', bank: 'portico.bank' } as const;
const SETUP_PREFIX = 'portico.set-up.';

export type Selection = keyof typeof KEYS;

export function readSelection(selection: Selection): string | undefined {
  return localStorage.getItem(KEYS[selection]) ?? undefined;
}

export function saveSelection(selection: Selection, guid: string): void {
  localStorage.setItem(KEYS[selection], guid);
}

export function isSetupSeen(organizationGuid: string): boolean {
  return localStorage.getItem(SETUP_PREFIX + organizationGuid) !== null;
}

export function markSetupSeen(organizationGuid: string): void {
  if (!isSetupSeen(organizationGuid)) localStorage.setItem(SETUP_PREFIX + organizationGuid, 'seen');
}

export function isSetupDone(organizationGuid: string): boolean {
  return localStorage.getItem(SETUP_PREFIX + organizationGuid) === 'done';
}

export function markSetupDone(organizationGuid: string): void {
  localStorage.setItem(SETUP_PREFIX + organizationGuid, 'done');
}
