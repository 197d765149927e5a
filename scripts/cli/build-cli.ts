import { chmodSync, cpSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';

const ROOT = join(import.meta.dirname, '..', '..');
const CLI = join(ROOT, 'cli');

/** Bundles the command line with the SDK into one file without dependencies. `npm pack` in cli/ does this first. */
await build({
  root: CLI,
  configFile: false,
  logLevel: 'warn',
  ssr: { noExternal: true, target: 'node' },
  build: {
    ssr: join(CLI, 'src', 'bin.ts'),
    outDir: join(CLI, 'dist'),
    emptyOutDir: true,
    target: 'node20',
    rolldownOptions: { output: { entryFileNames: 'portico.js' } },
  },
});
chmodSync(join(CLI, 'dist', 'portico.js'), 0o755);
cpSync(join(ROOT, 'LICENSE'), join(CLI, 'LICENSE'));
