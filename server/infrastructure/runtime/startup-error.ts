/** A startup failure that the user can fix. The command line prints its message, one sentence, and exits with its code. */
export class StartupError extends Error {
  override readonly name: string = 'StartupError';
  readonly exitCode: number = 1;
}

/** Wrong arguments of the command line. The exit code is that of the partners' commands. */
export class UsageError extends StartupError {
  override readonly name = 'UsageError';
  override readonly exitCode = 2;
}
