import { execFileSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
const SDK = join(ROOT, 'sdk');

/** Compiles the SDK to sdk/dist. `npm pack` and `npm publish` in sdk/ do this first. */
rmSync(join(SDK, 'dist'), { recursive: true, force: true });
execFileSync(
  process.execPath,
  [join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', join(SDK, 'tsconfig.build.json')],
  { stdio: 'inherit' },
);
cpSync(join(ROOT, 'LICENSE'), join(SDK, 'LICENSE'));
