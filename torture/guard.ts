import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '../server/infrastructure/runtime/run-command.ts';

/**
 * Child process: ends what a run has started when the run itself was killed and could not do it. `pid` and `ended` are
 * processes of Portico; PostgreSQL writes its own process id to a file.
 */
export type GuardMessage = { pid: number } | { ended: number } | { folder: string; dataDir: string };

const pids = new Set<number>();
let folders: { folder: string; dataDir: string } | undefined;

process.on('message', (message: GuardMessage) => {
  if ('pid' in message) pids.add(message.pid);
  else if ('ended' in message) pids.delete(message.ended);
  else folders = message;
});
process.on('disconnect', () => void endAll().finally(() => process.exit()));

async function endAll(): Promise<void> {
  for (const pid of pids) kill(pid, 'SIGKILL');
  if (!folders) return;
  const { folder, dataDir } = folders;
  const [postmaster] = readIfThere(join(dataDir, 'postgres', 'postmaster.pid')).split('\n');
  if (postmaster) kill(Number(postmaster), 'SIGQUIT');
  await runCommand('umount', ['-l', join(folder, 'disk')]);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended by itself.
  }
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
