import { StartupError } from '../../runtime/startup-error.ts';
import type { Binaries } from './binaries.ts';
import { runCommand } from './run-command.ts';
import type { ServerUser } from './server-user.ts';

export type LaunchPlan = {
  readonly program: string;
  readonly args: readonly string[];
  readonly options: { readonly cwd: string; readonly uid?: number; readonly gid?: number };
};
/** How a program of PostgreSQL has to be started so that it runs as the right user and reaches its files. */
export type Launcher = (program: string, args: readonly string[]) => LaunchPlan;

export async function createLauncher(options: {
  binaries: Binaries;
  dataDir: string;
  user: ServerUser | undefined;
}): Promise<Launcher> {
  const { binaries, dataDir, user } = options;
  if (user === undefined) return (program, args) => ({ program, args, options: { cwd: dataDir } });
  for (const launcher of [asUser(user, dataDir), asUserThroughClosedDirectories(user, dataDir)])
    if (await reachesFiles(launcher, binaries, dataDir)) return launcher;
  throw new StartupError(
    `PostgreSQL runs as the user ${user.uid}, who cannot reach ${dataDir} or ${binaries.postgres} ` +
      'because a directory above is closed; set PORTICO_DATA_DIR to an open directory, move portico to one, ' +
      'or start it as an ordinary user.',
  );
}

function asUser({ uid, gid }: ServerUser, cwd: string): Launcher {
  return (program, args) => ({ program, args, options: { cwd, uid, gid } });
}

/**
 * For a checkout below a closed home directory (root's is): PostgreSQL runs as its own user but keeps the
 * one capability to pass. `no_setuid_fixup` because access(2), by which PostgreSQL checks its own
 * programs, otherwise ignores the capabilities of everyone but root.
 */
function asUserThroughClosedDirectories({ uid, gid }: ServerUser, cwd: string): Launcher {
  const setpriv = [
    `--reuid=${uid}`,
    `--regid=${gid}`,
    '--clear-groups',
    '--securebits=+no_setuid_fixup',
  ].concat(['--inh-caps', '--ambient-caps'].map((set) => `${set}=+dac_override`));
  return (program, args) => ({
    program: 'setpriv',
    args: [...setpriv, '--', program, ...args],
    options: { cwd },
  });
}

/** Asked of the system instead of computed from modes: only it knows about lists, mounts and capabilities. */
async function reachesFiles(launcher: Launcher, binaries: Binaries, dataDir: string): Promise<boolean> {
  const script = 'cd "$1" && test -r "$2" && exec "$3" --version';
  const plan = launcher('/bin/sh', ['-c', script, 'sh', dataDir, binaries.initdb, binaries.postgres]);
  const { exitCode } = await runCommand(plan.program, plan.args, plan.options);
  return exitCode === 0;
}
