import { Failure } from '../infrastructure/runtime/failure.ts';

/**
 * Control characters (C0, DEL, C1), line and paragraph separators, and the marks with which a name shows another
 * ending than it has (U+202E and its relatives): `invoice\u202Efdp.exe` reads as `invoiceexe.pdf`.
 */
const UNSEEN = /[\p{Cc}\u2028\u2029\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/u;
/** Slashes of both kinds, and the names of folders: nobody who saves it may end up elsewhere. */
const PATH = /[/\\]|^\.{1,2}$/;

/** Only ever shown and offered for saving; what is stored is named by its guid. */
export function checkFilename(filename: string): Failure | undefined {
  if (PATH.test(filename)) return new Failure('invalid_parameter', 'filename must be a name, not a path');
  if (UNSEEN.test(filename))
    return new Failure(
      'invalid_parameter',
      'filename must not contain control characters or marks that change the direction of text',
    );
  if (!/\S/.test(filename)) return new Failure('invalid_parameter', 'filename must not be blank');
  return undefined;
}
