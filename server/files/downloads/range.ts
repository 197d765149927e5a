import type { ByteRange } from '../storage/storage.ts';

const ONE_RANGE = /^bytes=(\d*)-(\d*)$/;

/**
 * What a Range header asks for (RFC 9110, section 14.1.2); undefined: all of it. A header that makes no sense, or asks
 * for several ranges, may be ignored (section 14.2).
 */
export function rangeOf(header: string | undefined, size: number): ByteRange | 'unsatisfiable' | undefined {
  const [, first = '', last = ''] = ONE_RANGE.exec(header ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  // Without a beginning it is the last so many bytes.
  if (first === '')
    return Number(last) === 0 ? 'unsatisfiable' : { start: Math.max(0, size - Number(last)), end: size - 1 };
  const start = Number(first);
  if (last !== '' && Number(last) < start) return undefined;
  if (start >= size) return 'unsatisfiable';
  return { start, end: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
}
