import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { describe, test } from 'node:test';
import { PLANTED_BUGS } from './bugs.ts';

const ROOT = new URL('../../', import.meta.url);

describe('each planted bug fits the code as it is', () => {
  for (const { name, file, from, to } of PLANTED_BUGS)
    test(name, () => {
      const source = readFileSync(new URL(file, ROOT), 'utf8');
      assert.equal(source.split(from).length, 2, `${file} does not contain once: ${from}`);
      const planted = source.replace(from, () => to);
      assert.notEqual(stripTypeScriptTypes(planted), stripTypeScriptTypes(source));
    });
});

test('a bug is chosen by its name', () => {
  assert.equal(new Set(PLANTED_BUGS.map(({ name }) => name)).size, PLANTED_BUGS.length);
});
