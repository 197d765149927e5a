import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { messagesPage } from './messages-page.ts';

/** `npm run messages`: writes docs/contributors/messages.md. */
const root = join(import.meta.dirname, '..', '..');
const page = join(root, 'docs', 'contributors', 'messages.md');
mkdirSync(dirname(page), { recursive: true });
writeFileSync(page, `${messagesPage(root)}\n`);
