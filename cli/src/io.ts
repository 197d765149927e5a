import { userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { Readable } from 'node:stream';

export type Output = { write(text: string): unknown; isTTY?: boolean; columns?: number };

/** What a command uses of its process; tests replace it. */
export type Io = {
  stdout: Output;
  stderr: Output;
  stdin: Readable & { isTTY?: boolean; setRawMode?(raw: boolean): unknown };
  env: Readonly<Record<string, string | undefined>>;
  /** Ends the command. */
  signal: AbortSignal;
  now(): number;
};

export function systemIo(): Io {
  const interruption = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => interruption.abort());
  const { stdout, stderr, stdin, env } = process;
  // The reader of a pipe may end first, as in `portico events list | head`.
  for (const stream of [stdout, stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(0);
    });
  return { stdout, stderr, stdin, env, signal: interruption.signal, now: Date.now };
}

export function configDir({ env }: Pick<Io, 'env'>): string {
  if (env.PORTICO_CLI_CONFIG_DIR) return env.PORTICO_CLI_CONFIG_DIR;
  // An empty or relative path counts as unset (XDG Base Directory): secrets must not be stored in the working directory.
  const base = [env.XDG_CONFIG_HOME, env.APPDATA].find((path) => path && isAbsolute(path));
  return join(base ?? join(env.HOME || userInfo().homedir, '.config'), 'portico');
}
