import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { objectsPage } from './objects-page.ts';

/** Writes `docs/partners/objects.md`, after a change of the objects' fields or states. */
writeFileSync(join(import.meta.dirname, '..', 'docs', 'partners', 'objects.md'), `${objectsPage()}\n`);
