/** A name that people chose, without line breaks and control characters: prevents line and header injection. */
export function oneLine(name: string): string {
  return name.replaceAll(/[\p{C}\p{Z}]+/gu, ' ').trim();
}
