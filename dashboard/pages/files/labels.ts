export function wordsOf(type: string): string {
  return type.replaceAll('_', ' ');
}

export function bytes(size: number): string {
  if (size < 1024) return `${size} B`;
  const units = ['KB', 'MB', 'GB'];
  const power = Math.min(units.length, Math.floor(Math.log2(size) / 10));
  return `${(size / 1024 ** power).toFixed(power === 1 ? 0 : 1)} ${units[power - 1]}`;
}

/** In words that say what to do about it. */
export const FAILURE_LABELS: Record<string, string> = {
  upload_expired: 'It was not uploaded in time',
  content_type_mismatch: 'Its bytes are of another type than declared',
  infected: 'The virus scan refused it',
  empty: 'It is empty',
  too_large: 'It is too large',
};
