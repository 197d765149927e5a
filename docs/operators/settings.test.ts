import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { settings } from '../../server/infrastructure/config/settings.ts';

test('docs/operators/settings.md names every setting, and none that does not exist', async () => {
  const text = await readFile(join(import.meta.dirname, 'settings.md'), 'utf8');
  const rows = text.matchAll(/^\| `(PORTICO_[A-Z0-9_]+)`/gm);
  const documented = [...rows].map(([, variable]) => variable).sort();
  const existing = Object.values(settings).map(({ variable }) => variable);
  assert.deepEqual(documented, existing.toSorted());
});
