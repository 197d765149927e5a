import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { objectsPage } from '../../scripts/objects-page.ts';

test('docs/partners/objects.md matches the tables; update it with node scripts/print-objects.ts', async () => {
  const page = await readFile(join(import.meta.dirname, 'objects.md'), 'utf8');
  assert.equal(page, `${objectsPage()}\n`);
});
