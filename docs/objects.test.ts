import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { objectsPage } from '../scripts/objects-page.ts';
import { TOUR_OPTIONS, takeTour } from '../testing/tour.ts';

test('docs/objects.md is what the tables say now; node scripts/print-objects.ts writes it anew', async () => {
  const page = await readFile(join(import.meta.dirname, 'objects.md'), 'utf8');
  assert.equal(page, `${objectsPage()}\n`);
});

test('every command of the tour of objects works and answers what it shows', TOUR_OPTIONS, (t) =>
  takeTour(t, 'docs/objects.md', 'A tour'),
);
