import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';

/** A user who may not mount gets a namespace of his own, in which he may. PostgreSQL still sees an ordinary user. */
const UNSHARE = ['--user', '--map-current-user', '--keep-caps', '--mount', '--'];
const MARK = 'TORTURE_NAMESPACE';

export function canEnterNamespace(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() === 0 || process.env[MARK]) return false;
  return spawnSync('unshare', [...UNSHARE, 'true'], { stdio: 'ignore' }).status === 0;
}

/** Runs this command again within a namespace; returns its exit code. */
export async function runInNamespace(): Promise<number> {
  const child = spawn('unshare', [...UNSHARE, process.execPath, ...process.argv.slice(1)], {
    // With a channel, which closes when this process is killed.
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, [MARK]: 'yes' },
  });
  // The terminal sends its signals to the child as well; a signal by pid has to be passed on.
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  process.on('SIGINT', () => undefined);
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  return code ?? 128 + (signal ? constants.signals[signal] : 0);
}
