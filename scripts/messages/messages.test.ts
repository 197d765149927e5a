import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { messagesOf, messagesPage } from './messages-page.ts';

const ROOT = join(import.meta.dirname, '..', '..');

test('docs/contributors/messages.md is current; npm run messages regenerates it', async () => {
  const page = await readFile(join(ROOT, 'docs', 'contributors', 'messages.md'), 'utf8');
  assert.ok(
    page === `${messagesPage(ROOT)}\n`,
    'docs/contributors/messages.md is stale: run npm run messages',
  );
});

test('finds messages of failures, of the log and elsewhere, and leaves out SQL and descriptions', () => {
  const source = `
    const REASON = 'must be a date' + ' and a time';
    const schema = { description: 'a date and a time' };
    const rows = sql\`select a from b\`;
    log.warn({ err }, 'could not connect');
    log[level]({ err }, 'built an index');
    return isLate ? new Failure('not_found', \`No \${kind} with this \${a ? 'x' : b}\`) : undefined;`;
  assert.deepEqual(
    messagesOf('a.ts', source).map(({ kind, label, text }) => [kind, label, text]),
    [
      ['other', '', 'must be a date and a time'],
      ['log', 'warn', 'could not connect'],
      ['log', '', 'built an index'],
      ['failure', 'not_found', 'No {kind} with this {…}'],
    ],
  );
});
