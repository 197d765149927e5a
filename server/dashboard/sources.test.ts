import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { fingerprintOfSources } from './sources.ts';

const root = await mkdtemp(join(tmpdir(), 'portico-sources-'));
after(() => rm(root, { recursive: true, force: true }));

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
}

await write('package-lock.json', '{}');
await write(
  'dashboard/pages/Page.tsx',
  "import type { View } from '../../server/view.ts';\nimport { rule } from '../../server/rule.ts';\n",
);
await write('dashboard/app.css', 'body {}');
await write('dashboard/build/old/index.html', '');
await write('server/view.ts', 'export type View = 1;');
await write('server/rule.ts', "import { part } from './part.ts';\nexport const rule = part;\n");
await write('server/part.ts', 'export const part = 1;');
await write('server/other.ts', 'export const other = 1;');

async function changes(path: string): Promise<boolean> {
  const before = fingerprintOfSources(root);
  await write(path, `// changed: ${path}`);
  return fingerprintOfSources(root) !== before;
}

test('the same sources have the same fingerprint', () => {
  assert.equal(fingerprintOfSources(root), fingerprintOfSources(root));
});

test('types, unrelated server files and builds do not change the fingerprint', async () => {
  for (const path of ['server/view.ts', 'server/other.ts', 'dashboard/build/old/index.html'])
    assert.equal(await changes(path), false, path);
});

test('styles, the lock file, guides and imported server code at any depth change the fingerprint', async () => {
  for (const path of [
    'dashboard/app.css',
    'package-lock.json',
    'server/part.ts',
    'server/rule.ts',
    'dashboard/new.ts',
    'docs/partners/webhooks.md',
    'scripts/guides/guides.ts',
  ])
    assert.equal(await changes(path), true, path);
});
