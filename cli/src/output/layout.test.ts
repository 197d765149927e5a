import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Context } from '../command.ts';
import { beside, layOut, wrap } from './layout.ts';
import { createLines, field, printList, say, timeField } from './print.ts';
import { withProgress } from './progress.ts';

const GUID = '0199e5a4c1b27d3e8f60a1b2c3d4e5f6';
const EVENT = { created_at: '2026-11-16T12:31:48.973Z', event_type: 'transfer.completed', guid: GUID };
const COLUMNS = [
  { ...timeField('Created at'), width: 20 },
  { ...field('Event type'), width: 31 },
  { ...field('Guid'), width: 32 },
];

function terminal(columns: number) {
  let written = '';
  const output = { write: (text: string) => (written += text), isTTY: true, columns };
  const options = { flag: () => false, text: () => undefined, texts: () => [] };
  const io = { stdout: output, stderr: output, env: { NO_COLOR: '1' } };
  return { context: { io, options } as unknown as Context, lines: () => written.split('\n').slice(0, -1) };
}

test('a table that is wider than the terminal has rows of several lines, and no guid is broken', () => {
  const wide = terminal(120);
  printList(wide.context, [EVENT], COLUMNS, '');
  assert.deepEqual(wide.lines(), [
    'CREATED AT            EVENT TYPE          GUID',
    `2026-11-16T12:31:48Z  transfer.completed  ${GUID}`,
  ]);
  for (const print of [
    (context: Context) => printList(context, [EVENT], COLUMNS, ''),
    (context: Context) => createLines(context, COLUMNS)(EVENT),
  ]) {
    const narrow = terminal(60);
    print(narrow.context);
    assert.deepEqual(narrow.lines(), [
      'CREATED AT            EVENT TYPE',
      '  GUID',
      '2026-11-16T12:31:48Z  transfer.completed',
      `  ${GUID}`,
    ]);
  }
});

test('titles of an output that goes on are printed once', () => {
  const { context, lines } = terminal(120);
  const print = createLines(context, COLUMNS);
  for (let count = 0; count < 3; count += 1) print(EVENT);
  assert.equal(lines().length, 4);
});

test('texts are broken between words, and begin below each other', () => {
  assert.deepEqual(wrap('one two three', 7), ['one two', 'three']);
  assert.deepEqual(wrap(`a ${GUID}`, 10), ['a', GUID]);
  assert.equal(
    beside('--json     ', 11, 'print JSON: one document, or more', 32),
    '--json     print JSON: one\n           document, or more',
  );
  assert.deepEqual(layOut(['a', 'b'], [1, 1], 20), ['a  b']);
  const { context, lines } = terminal(30);
  say(context, 'Logged in. The key pair is stored.');
  assert.deepEqual(lines(), ['Logged in. The key pair is', 'stored.']);
});

test('a progress bar fits into the terminal, and its line is ended when the work fails', async () => {
  const { context, lines } = terminal(40);
  const work = withProgress(context, String, async (show) => {
    show(5, 10);
    throw new Error('cut off');
  });
  await assert.rejects(work, /cut off/);
  const [line = ''] = lines();
  assert.match(line, /█+░+ {2}50 % {2}5 of 10/);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what the terminal does not show
  assert.ok(line.replace(/\r|\u001b\[K/g, '').length < 40, line);
});
