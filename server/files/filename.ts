import { Failure } from '../infrastructure/runtime/failure.ts';

/**
 * Control characters (C0, DEL, C1), line and paragraph separators, and bidirectional marks (U+202E and others),
 * which can disguise an extension: `invoice\u202Efdp.exe` reads as `invoiceexe.pdf`.
 */
const INVISIBLE = /[\p{Cc}\u2028\u2029\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/u;
/** Path separators, `.` and `..`: a saved file must not leave its folder. */
const PATH = /[/\\]|^\.{1,2}$/;

/** The filename is only shown and offered for saving. The storage names content by guid. */
export function checkFilename(filename: string): Failure | undefined {
  if (PATH.test(filename))
    return new Failure('invalid_parameter', 'filename must be a file name without slashes, not a path');
  if (INVISIBLE.test(filename))
    return new Failure(
      'invalid_parameter',
      'filename must not contain control characters or bidirectional text marks',
    );
  if (!/\S/.test(filename)) return new Failure('invalid_parameter', 'filename must not be blank');
  return undefined;
}
