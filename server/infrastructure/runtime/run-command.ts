import { type SpawnOptions, spawn } from 'node:child_process';

const DEFAULT_TIMEOUT_MS = 10_000;
/** Child processes get only these variables, because the environment contains secrets. */
const PASSED_ON = ['PATH', 'LD_LIBRARY_PATH', 'SystemRoot', 'TEMP', 'TMPDIR'];

export type CommandResult = {
  readonly stdout: string;
  readonly stderr: string;
  /** `undefined` when it could not be started or was ended by a signal. */
  readonly exitCode: number | undefined;
  readonly startError: NodeJS.ErrnoException | undefined;
};

/** Never throws: the caller words the error. A program that `signal` ends has no exit code. */
export function runCommand(
  program: string,
  args: readonly string[],
  options: Pick<SpawnOptions, 'uid' | 'gid' | 'cwd'> & {
    readonly timeoutMs?: number;
    readonly signal?: AbortSignal | undefined;
  } = {},
): Promise<CommandResult> {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, signal, ...spawnOptions } = options;
  return new Promise((resolve) => {
    let stdout = '';
    let stderr = '';
    const finish = (exitCode: number | null, startError?: Error) =>
      resolve({ stdout, stderr, exitCode: exitCode ?? undefined, startError });
    try {
      const child = spawn(program, args, {
        ...spawnOptions,
        env: cleanEnvironment(),
        timeout: timeoutMs,
        stdio: ['ignore', 'pipe', 'pipe'],
        windowsHide: true,
      });
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        stdout += text;
      });
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        stderr += text;
      });
      // Not by the option of `spawn`, with which this would not wait until the program has ended.
      const end = () => child.kill();
      if (signal?.aborted) end();
      signal?.addEventListener('abort', end);
      child.once('error', (error) => finish(null, error));
      child.once('close', (exitCode) => {
        signal?.removeEventListener('abort', end);
        finish(exitCode);
      });
    } catch (error) {
      finish(null, error as Error);
    }
  });
}

/** Without the locale and `PG…` variables, which would change PostgreSQL's behaviour and messages. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  const passedOn = PASSED_ON.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(passedOn), LC_ALL: 'C', TZ: 'UTC' };
}

export function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.trim() ?? '';
}
