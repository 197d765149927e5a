import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { answerFor } from '../../server/infrastructure/http/errors.ts';
import { Failure, type FailureCode } from '../../server/infrastructure/runtime/failure.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** The codes exist as a type only, so they are read from the source of the map. */
async function readCodes(): Promise<FailureCode[]> {
  const source = await readFile(join(ROOT, 'server/infrastructure/http/errors.ts'), 'utf8');
  const [, map = ''] = /= \{\n(.*?)\n\} as const satisfies Record<FailureCode/s.exec(source) ?? [];
  return Array.from(map.matchAll(/^ {2}(\w+): \{/gm), ([, code]) => code as FailureCode);
}

test('docs/partners/errors.md lists every error that the service can send, and no other', async () => {
  const codes = await readCodes();
  assert.ok(codes.length > 50, 'found the map');
  const existing = codes.map((code) => {
    const { status, body } = answerFor(new Failure(code, ''));
    return `${status} ${body.error} ${body.message_code}`;
  });
  const page = await readFile(join(import.meta.dirname, 'errors.md'), 'utf8');
  const rows = page.matchAll(/^\| (\d{3}) +\| `(\w+)` +\| `(\w+)` +\| ([^|]+) \| ([^|]+) \|$/gm);
  const documented = Array.from(rows, ([, ...cells]) => cells.slice(0, 3).join(' '));
  assert.deepEqual(documented.sort(), existing.sort());
});
