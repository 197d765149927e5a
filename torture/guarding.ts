import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { GuardMessage } from './guard.ts';

export type Guard = ReturnType<typeof startGuard>;

/** Starts the process that ends everything after a `kill -9` of this one. */
export function startGuard({ folder, dataDir }: { folder: string; dataDir: string }) {
  // In a process group of its own: Ctrl-C must not end it before the others.
  const child = fork(join(import.meta.dirname, 'guard.ts'), {
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const tell = (message: GuardMessage) => {
    if (child.connected) child.send(message);
  };
  tell({ folder, dataDir });
  return {
    started: (pid: number | undefined) => pid !== undefined && tell({ pid }),
    ended: (pid: number | undefined) => pid !== undefined && tell({ ended: pid }),
    /** When everything has ended. */
    async stop(): Promise<void> {
      const gone = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
      child.kill('SIGKILL');
      await gone;
    },
  };
}
