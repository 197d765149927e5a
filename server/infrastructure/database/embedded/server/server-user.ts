import { stat } from 'node:fs/promises';
import { runCommand } from '../../../runtime/run-command.ts';
import { StartupError } from '../../../runtime/startup-error.ts';
import { isErrorCode } from '../data-dir/file-problem.ts';

export type ServerUser = { readonly uid: number; readonly gid: number };

const ROOT_UID = 0;
const USER_OF_THE_SYSTEM = 'postgres';
const OWN_USER = 'portico';

/** PostgreSQL refuses to run as root. `undefined`: portico is not root (or on Windows), so it runs as the same user. */
export async function chooseServerUser(clusterDir: string): Promise<ServerUser | undefined> {
  const ownUid = process.getuid?.();
  if (ownUid === undefined) return undefined;
  const clusterOwner = await ownerOf(clusterDir);
  if (ownUid !== ROOT_UID) {
    if (clusterOwner !== undefined && clusterOwner.uid !== ownUid)
      throw new StartupError(
        `The database in ${clusterDir} belongs to another user (uid ${clusterOwner.uid}); ` +
          'start portico as that user or as root, or set PORTICO_DATA_DIR to another directory.',
      );
    return undefined;
  }
  if (clusterOwner !== undefined && clusterOwner.uid !== ROOT_UID) return clusterOwner;
  return (
    (await findUser(USER_OF_THE_SYSTEM)) ??
    (await findUser(OWN_USER)) ??
    (await createUser()) ??
    cannotBeRoot()
  );
}

async function ownerOf(path: string): Promise<ServerUser | undefined> {
  try {
    const { uid, gid } = await stat(path);
    return { uid, gid };
  } catch (error) {
    if (isErrorCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

async function findUser(name: string): Promise<ServerUser | undefined> {
  const [uid, gid] = await Promise.all([runCommand('id', ['-u', name]), runCommand('id', ['-g', name])]);
  if (uid.exitCode !== 0 || gid.exitCode !== 0) return undefined;
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
}

async function createUser(): Promise<ServerUser | undefined> {
  const created = await runCommand('useradd', [
    '--system',
    '--no-create-home',
    '--shell',
    '/bin/false',
    OWN_USER,
  ]);
  // Small images have BusyBox's adduser instead.
  if (created.exitCode !== 0) await runCommand('adduser', ['-S', '-D', '-H', OWN_USER]);
  return await findUser(OWN_USER);
}

function cannotBeRoot(): never {
  throw new StartupError(
    'PostgreSQL does not run as root and no user could be created for it; ' +
      'start portico as an ordinary user or create a system user named postgres.',
  );
}
