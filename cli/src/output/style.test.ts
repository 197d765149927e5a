import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Context } from '../command.ts';
import { createLines, printList, printObject, say } from './print.ts';

const HOSTILE = 'a\u001b]0;title\u0007\u009b2J\u007f\u202eb\u2066\rc';
const ACTING = /(?![\n\t])[\p{Cc}\p{Bidi_Control}]/u;

function contextOf(isJson: boolean) {
  let written = '';
  const output = { write: (text: string) => (written += text), isTTY: false };
  const options = { flag: () => isJson, text: () => undefined, texts: () => [] };
  const context = { io: { stdout: output, stderr: output, env: {} }, options } as unknown as Context;
  return { context, written: () => written };
}

test('texts of the service do not act on the terminal, and JSON keeps them', () => {
  for (const isJson of [false, true]) {
    const { context, written } = contextOf(isJson);
    const column = { title: 'Name', width: 4, value: ({ name }: { name?: unknown }) => name };
    printObject(context, { name: HOSTILE });
    if (isJson) assert.deepEqual(JSON.parse(written()), { name: HOSTILE });
    createLines(context, [column])({ name: HOSTILE });
    printList(context, [{ name: HOSTILE }], [column], '');
    say(context, `one ${HOSTILE}\ntwo`);
    assert.doesNotMatch(written(), ACTING);
  }
});
