import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

const KILL_AFTER_MS = 30_000;

/**
 * Runs a script of `bench/` as a child process, so that it does not share this process's event loop. It sends one
 * message when it is ready, and ends when it is disconnected.
 */
export async function startScript<Ready>(
  resources: AsyncDisposableStack,
  file: string,
  ...args: readonly string[]
): Promise<{ child: ChildProcess; ready: Ready }> {
  const child = fork(fileURLToPath(new URL(`../${file}`, import.meta.url)), args);
  resources.defer(async () => {
    if (child.connected) child.disconnect();
    await untilEnded(child);
  });
  return { child, ready: await nextMessage<Ready>(child) };
}

export function ask<Answer>(child: ChildProcess, message: unknown): Promise<Answer> {
  const answered = nextMessage<Answer>(child);
  // The caller may await it later; a child that ends before that must not end this process.
  answered.catch(() => {});
  child.send(message as object);
  return answered;
}

async function nextMessage<Message>(child: ChildProcess): Promise<Message> {
  const over = new AbortController();
  try {
    const [message] = await Promise.race([
      once(child, 'message', { signal: over.signal }),
      once(child, 'exit', { signal: over.signal }).then(() => {
        throw new Error(`${basename(child.spawnargs[1] ?? '')} ended`);
      }),
    ]);
    return message as Message;
  } finally {
    over.abort();
  }
}

export async function untilEnded(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const timer = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS);
  await once(child, 'exit');
  clearTimeout(timer);
}
