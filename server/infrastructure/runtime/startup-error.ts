/** A startup failure that the user can fix. The command line prints its message, one sentence, and exits with 1. */
export class StartupError extends Error {
  override readonly name = 'StartupError';
}
