/** `storing` until the content was processed, then finally `completed` or `failed`. */
export const FILE_STATES = ['storing', 'completed', 'failed'] as const;
export type FileState = (typeof FILE_STATES)[number];

/** The SQL form is `inState` in `store.ts`. */
export function stateOf(file: { completed_at: Date | null; failed_at: Date | null }): FileState {
  if (file.completed_at !== null) return 'completed';
  return file.failed_at !== null ? 'failed' : 'storing';
}
