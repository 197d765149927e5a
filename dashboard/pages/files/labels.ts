export function typeLabel(type: string): string {
  return type.replaceAll('_', ' ');
}

export function formatBytes(size: number): string {
  if (size < 1024) return `${size} B`;
  const units = ['KB', 'MB', 'GB'];
  const power = Math.min(units.length, Math.floor(Math.log2(size) / 10));
  return `${(size / 1024 ** power).toFixed(power === 1 ? 0 : 1)} ${units[power - 1]}`;
}

export const FAILURE_LABELS: Record<string, string> = {
  upload_expired: 'Not uploaded before the upload URL expired',
  content_type_mismatch: 'The content does not match the declared type',
  infected: 'Rejected by the virus scan',
  empty: 'The file is empty',
  too_large: 'The file is too large',
};
