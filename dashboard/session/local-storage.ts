/** What this browser looked at last. Names of things only; nothing in here is secret. */
const NAMES = { organization: 'portico.organization', bank: 'portico.bank' } as const;
/** Of each Organization by itself: that its set-up was offered, or is done. */
const SET_UP = 'portico.set-up.';

export function readSelection(what: keyof typeof NAMES): string | undefined {
  return localStorage.getItem(NAMES[what]) ?? undefined;
}

export function saveSelection(what: keyof typeof NAMES, guid: string): void {
  localStorage.setItem(NAMES[what], guid);
}

export function isOnboardingSeen(organizationGuid: string): boolean {
  return localStorage.getItem(SET_UP + organizationGuid) !== null;
}

export function markOnboardingSeen(organizationGuid: string): void {
  localStorage.setItem(SET_UP + organizationGuid, 'seen');
}
