import { timingSafeEqual } from 'node:crypto';

/** Compares secrets. The time depends on the lengths only, which are no secret. */
export function isEqualInConstantTime(given: Uint8Array, expected: Uint8Array): boolean {
  return given.length === expected.length && timingSafeEqual(given, expected);
}
