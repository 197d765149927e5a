import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { objectsPage } from './objects-page.ts';

/** Writes `docs/objects.md` anew, after a change of the objects' fields or states. */
writeFileSync(join(import.meta.dirname, '..', 'docs', 'objects.md'), `${objectsPage()}\n`);
