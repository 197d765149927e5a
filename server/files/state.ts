import type { FileRow } from './store.ts';

/** `storing` until its content was looked at, then one of the others for good. */
export const FILE_STATES = ['storing', 'completed', 'failed'] as const;
export type FileState = (typeof FILE_STATES)[number];

/** `inState` of the store says the same in SQL. */
export function stateOf({ completed_at, failed_at }: Pick<FileRow, 'completed_at' | 'failed_at'>): FileState {
  if (completed_at !== null) return 'completed';
  return failed_at !== null ? 'failed' : 'storing';
}
