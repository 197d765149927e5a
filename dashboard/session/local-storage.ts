const KEYS = { organization: 'portico.organization', bank: 'portico.bank' } as const;
const ONBOARDING_PREFIX = 'portico.set-up.';

export type Selection = keyof typeof KEYS;

export function readSelection(selection: Selection): string | undefined {
  return localStorage.getItem(KEYS[selection]) ?? undefined;
}

export function saveSelection(selection: Selection, guid: string): void {
  localStorage.setItem(KEYS[selection], guid);
}

export function isOnboardingSeen(organizationGuid: string): boolean {
  return localStorage.getItem(ONBOARDING_PREFIX + organizationGuid) !== null;
}

export function markOnboardingSeen(organizationGuid: string): void {
  localStorage.setItem(ONBOARDING_PREFIX + organizationGuid, 'seen');
}
