import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { type KeyHolder, scopesFor } from '../../server/tokens/scopes.ts';

test('docs/partners/authentication.md lists exactly the scopes that keys and customers can hold', async () => {
  const text = await readFile(join(import.meta.dirname, 'authentication.md'), 'utf8');
  const [, table = ''] = /## Scopes\n(.*?)\nA test compares/s.exec(text) ?? [];
  const rows = [...table.matchAll(/^\| `(\w+)` +\|([^|]+)\|([^|]+)\|([^|]+)\|$/gm)];
  const holders: KeyHolder[] = ['organization', 'bank', 'customer'];
  holders.forEach((holder, index) => {
    const documented = rows.flatMap(([, resource, ...cells]) =>
      Array.from(cells[index]?.matchAll(/\w+/g) ?? [], ([action]) => `${resource}:${action}`),
    );
    assert.deepEqual(documented.sort(), scopesFor(holder), holder);
  });
});
