import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GENERATED, generatedSources } from './sources.ts';

/** Writes the generated files of the SDK; with `--check`, part of `npm run check`, says which ones are stale. */
const isCheck = process.argv.includes('--check');
await mkdir(GENERATED, { recursive: true });
for (const [name, source] of Object.entries(await generatedSources())) {
  const file = join(GENERATED, name);
  if ((await readFile(file, 'utf8').catch(() => '')) === source) continue;
  if (!isCheck) await writeFile(file, source);
  else {
    process.stderr.write(`sdk/src/generated/${name} is stale; run node scripts/sdk/generate-sdk.ts\n`);
    process.exitCode = 1;
  }
}
