import { closeSync, openSync } from 'node:fs';

/** Creates the file; false if another process of the run has done so. */
export function claim(path: string): boolean {
  try {
    closeSync(openSync(path, 'wx'));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}
