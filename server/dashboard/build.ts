import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '../infrastructure/runtime/run-command.ts';
import { StartupError } from '../infrastructure/runtime/startup-error.ts';
import { BUILDS, fingerprintOfSources, ROOT } from './sources.ts';

const BUILD_TIMEOUT_MS = 300_000;
const SCRIPT = join(ROOT, 'scripts', 'build-dashboard.ts');
const BUILDER = join(ROOT, 'node_modules', 'vite', 'package.json');

/**
 * The folder with the build of the sources as they are now, made when it is not there. Undefined when it cannot be
 * made because the tools of development are not installed: the API does without its dashboard.
 */
export async function ensureDashboardBuild(say: (text: string) => void): Promise<string | undefined> {
  const folder = join(BUILDS, fingerprintOfSources());
  if (existsSync(folder)) return folder;
  if (!existsSync(BUILDER)) {
    say('The dashboard is not built and its tools are not installed: npm install && npm run build\n');
    return undefined;
  }
  const startedAt = Date.now();
  say('Building the dashboard … ');
  const result = await runCommand(process.execPath, [SCRIPT], { cwd: ROOT, timeoutMs: BUILD_TIMEOUT_MS });
  if (result.exitCode !== 0) {
    say(`\n${result.stdout}${result.stderr}`);
    throw new StartupError('The dashboard could not be built; the reason is above.');
  }
  say(`done in ${Math.max(1, Math.round((Date.now() - startedAt) / 1000))} s\n`);
  return folder;
}
