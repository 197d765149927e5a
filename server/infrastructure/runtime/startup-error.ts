/**
 * A reason not to start that the person at the terminal can do something about.
 * The command line prints its message, one clear sentence, and exits with 1.
 */
export class StartupError extends Error {
  override readonly name = 'StartupError';
}
