import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog, type LogLevel } from './log.ts';

const VALUE = 'hunter2-and-more';
const NAMES = [
  'authorization',
  'cookie',
  'set-cookie',
  'client_secret',
  'clientSecret',
  'access_token',
  'accessToken',
  'token',
  'signing_key',
  'signingKey',
  'password',
  'secret',
  'masterKey',
  'operatorToken',
  'databaseUrl',
  'data',
];

function capture({ level = 'info' as LogLevel, terminal = false } = {}) {
  const lines: string[] = [];
  const log = createLog({ level, terminal, destination: { write: (line) => void lines.push(line) } });
  return { log, lines };
}

/** `{ a: { b: value } }` of the given depth */
function nested(depth: number, value: object): object {
  return depth === 0 ? value : { [`level${depth}`]: nested(depth - 1, value) };
}

for (const name of NAMES) {
  test(`the value of ${name} is never logged, at the top and up to three levels deep`, () => {
    for (const depth of [0, 1, 2, 3]) {
      const { log, lines } = capture();
      log.info(nested(depth, { [name]: VALUE, other: 'kept' }), 'something');
      assert.equal(lines.length, 1);
      assert.doesNotMatch(lines.join(), /hunter2/, `depth ${depth}`);
      assert.match(lines.join(), /"\[secret\]"/);
      assert.match(lines.join(), /kept/);
    }
  });
}

test('a secret field of a child log is not logged', () => {
  const { log, lines } = capture();
  log.child({ token: VALUE, request: { headers: { authorization: VALUE } } }).info('something');
  assert.doesNotMatch(lines.join(), /hunter2/);
});

test('a secret field of an error or of an entry of a list is not logged', () => {
  const { log, lines } = capture();
  const err = Object.assign(new Error('broken'), { client_secret: VALUE, cause: { token: VALUE } });
  log.error({ err, calls: [{ headers: { cookie: VALUE } }] }, 'oh');
  assert.doesNotMatch(lines.join(), /hunter2/);
});

test('without a terminal each entry is one line of JSON with its time in UTC', () => {
  const { log, lines } = capture();
  log.info({ count: 3, text: 'a\nb' }, 'a thing happened');
  assert.equal(lines.join('').trimEnd().split('\n').length, 1);
  const { time, ...entry } = JSON.parse(lines.join(''));
  assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.deepEqual(entry, { level: 30, count: 3, text: 'a\nb', msg: 'a thing happened' });
});

test('an error is logged with its message and stack', () => {
  const { log, lines } = capture();
  log.error({ err: new Error('broken') }, 'oh');
  const { err } = JSON.parse(lines.join(''));
  assert.equal(err.message, 'broken');
  assert.match(err.stack, /log\.test\.ts/);
});

test('on a terminal entries are readable and secrets hidden', () => {
  const { log, lines } = capture({ terminal: true });
  log.warn({ password: VALUE, count: 3 }, 'a thing happened');
  const text = lines.join('');
  assert.throws(() => JSON.parse(text));
  assert.match(text, /WARN/);
  assert.match(text, /a thing happened/);
  assert.match(text, /"count":3/);
  assert.doesNotMatch(text, /hunter2/);
});

test('entries below the level are not logged', () => {
  const { log, lines } = capture({ level: 'warn' });
  log.info('no');
  log.warn('yes');
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).msg),
    ['yes'],
  );
  const silent = capture({ level: 'silent' });
  silent.log.fatal('no');
  assert.deepEqual(silent.lines, []);
});

test('a line has a bounded length, whatever an error or a field contains', () => {
  const { log, lines } = capture();
  const long = 'x'.repeat(1_000_000);
  const error = Object.assign(new Error(long), { detail: long, list: Array(1_000).fill({ long }) });
  log.error({ err: error, reason: long }, 'it failed');
  assert.ok((lines[0] as string).length < 64_000, String(lines[0]?.length));
  const { err, reason, msg } = JSON.parse(lines[0] as string);
  assert.equal(msg, 'it failed');
  for (const text of [err.message, err.stack, err.detail, reason]) assert.equal(text.length, 4_097);
});
