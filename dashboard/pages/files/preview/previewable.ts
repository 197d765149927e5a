import type { StoredFile } from '../../../api/types.ts';

/** Larger files are only offered for download. */
export const MAX_PREVIEW_BYTES = 25 * 1024 ** 2;

/** The content is only ever shown as one of these types, never as a document or script. */
const TYPES: readonly string[] = ['image/jpeg', 'image/png', 'application/pdf'];

export function isPreviewable({ state, content_type: type }: StoredFile): boolean {
  return state === 'completed' && TYPES.includes(type);
}
