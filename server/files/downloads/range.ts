import type { ByteRange } from '../storage/storage.ts';

const ONE_RANGE = /^bytes=(\d*)-(\d*)$/;

/**
 * The range of a Range header (RFC 9110, section 14.1.2); undefined for the whole file. Malformed headers and
 * multiple ranges are ignored, as section 14.2 permits.
 */
export function rangeOf(header: string | undefined, size: number): ByteRange | 'unsatisfiable' | undefined {
  const [, first = '', last = ''] = ONE_RANGE.exec(header ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  // A suffix range: the last so many bytes.
  if (first === '')
    return Number(last) === 0 ? 'unsatisfiable' : { start: Math.max(0, size - Number(last)), end: size - 1 };
  const start = Number(first);
  if (last !== '' && Number(last) < start) return undefined;
  if (start >= size) return 'unsatisfiable';
  return { start, end: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
}
