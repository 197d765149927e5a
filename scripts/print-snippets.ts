import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withSnippets } from './guides/snippets.ts';

/** Copies the regions of the examples into the page about webhooks, after an example has changed. */
const ROOT = join(import.meta.dirname, '..');
const PAGE = join(ROOT, 'docs', 'partners', 'webhooks.md');

writeFileSync(PAGE, withSnippets(ROOT, readFileSync(PAGE, 'utf8')));
