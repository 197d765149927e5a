import { runCommand } from '../../../runtime/run-command.ts';
import { StartupError } from '../../../runtime/startup-error.ts';
import type { Binaries } from '../cluster/binaries.ts';
import type { ServerUser } from './server-user.ts';

export type LaunchPlan = {
  readonly program: string;
  readonly args: readonly string[];
  readonly options: { readonly cwd: string; readonly uid?: number; readonly gid?: number };
};
/** How to start a PostgreSQL program as the right user with access to its files. */
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
    `PostgreSQL runs as user ${user.uid}, who cannot access ${dataDir} or ${binaries.postgres} ` +
      'because a parent directory is not accessible; set PORTICO_DATA_DIR to an accessible directory, move portico to one, ' +
      'or start it as an ordinary user.',
  );
}

function asUser({ uid, gid }: ServerUser, cwd: string): Launcher {
  return (program, args) => ({ program, args, options: { cwd, uid, gid } });
}

/**
 * For a checkout below an inaccessible home directory, such as root's: PostgreSQL runs as its own user with the one
 * capability to traverse directories. `no_setuid_fixup` is needed because access(2), with which PostgreSQL checks its
 * programs, otherwise ignores the capabilities of users other than root.
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

/** Tried instead of computed from file modes, which do not show ACLs, mounts and capabilities. */
async function reachesFiles(launcher: Launcher, binaries: Binaries, dataDir: string): Promise<boolean> {
  const script = 'cd "$1" && test -r "$2" && exec "$3" --version';
  const plan = launcher('/bin/sh', ['-c', script, 'sh', dataDir, binaries.initdb, binaries.postgres]);
  const { exitCode } = await runCommand(plan.program, plan.args, plan.options);
  return exitCode === 0;
}
