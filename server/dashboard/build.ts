import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '../infrastructure/runtime/run-command.ts';
import { StartupError } from '../infrastructure/runtime/startup-error.ts';
import { BUILDS, fingerprintOfSources, ROOT } from './sources.ts';

const BUILD_TIMEOUT_MS = 300_000;
const SCRIPT = join(ROOT, 'scripts', 'build-dashboard.ts');
const BUILDER = join(ROOT, 'node_modules', 'vite', 'package.json');

/**
 * The folder with the build of the current sources, created when missing. Undefined when the build tools are not
 * installed: the API then runs without its dashboard.
 */
export async function ensureDashboardBuild(
  write: (text: string) => void,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const folder = join(BUILDS, fingerprintOfSources());
  if (existsSync(folder)) return folder;
  if (!existsSync(BUILDER)) {
    write(
      'The dashboard is not built and its build tools are not installed; run: npm install && npm run build\n',
    );
    return undefined;
  }
  const startedAt = Date.now();
  write('Building the dashboard … ');
  const limits = { timeoutMs: BUILD_TIMEOUT_MS, signal };
  const result = await runCommand(process.execPath, [SCRIPT], { cwd: ROOT, ...limits });
  signal?.throwIfAborted();
  if (result.exitCode !== 0) {
    write(`\n${result.stdout}${result.stderr}`);
    throw new StartupError('The dashboard build failed; see the output above.');
  }
  write(`done in ${Math.max(1, Math.round((Date.now() - startedAt) / 1000))} s\n`);
  return folder;
}
