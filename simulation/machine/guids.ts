/** A UUIDv7 of this time. */
export function guidAt(at: number, bytes: Buffer): string {
  const time = Math.floor(at).toString(16).padStart(12, '0');
  const digits = bytes.toString('hex');
  return `${time}7${digits.slice(0, 3)}8${digits.slice(3, 18)}`;
}

/** The time in a UUIDv7. */
export function timeOf(guid: string): number {
  return Number.parseInt(guid.slice(0, 12), 16);
}
