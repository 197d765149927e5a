import { execFileSync } from 'node:child_process';
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
const SDK = join(ROOT, 'sdk');
const DIST = join(SDK, 'dist');

/** Compiles the SDK to sdk/dist. `npm pack` and `npm publish` in sdk/ do this first. */
rmSync(DIST, { recursive: true, force: true });
const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
execFileSync(process.execPath, [compiler, '-p', join(SDK, 'tsconfig.build.json')], { stdio: 'inherit' });
// The compiler rewrites the imports of the JavaScript only.
for (const file of globSync('**/*.d.ts', { cwd: DIST })) {
  const path = join(DIST, file);
  writeFileSync(path, readFileSync(path, 'utf8').replaceAll(/(from '\.[^']+)\.ts'/g, "$1.js'"));
}
cpSync(join(ROOT, 'LICENSE'), join(SDK, 'LICENSE'));
