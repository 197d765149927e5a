import assert from 'node:assert/strict';
import { test } from 'node:test';
import { format, inspect } from 'node:util';
import { createLog } from './log.ts';
import { Secret } from './secret.ts';

const VALUE = 'correct horse battery staple';
const secret = new Secret(VALUE);

test('only reveal() shows a secret', () => {
  assert.equal(secret.reveal(), VALUE);
});

test('text, JSON, inspection and the console format show [secret]', () => {
  assert.equal(`${secret}`, '[secret]');
  assert.equal(`the ${secret}`.concat(String(secret)), 'the [secret][secret]');
  assert.equal(JSON.stringify({ key: secret, list: [secret] }), '{"key":"[secret]","list":["[secret]"]}');
  for (const options of [{}, { showHidden: true, depth: 10 }, { customInspect: false, showHidden: true }])
    assert.doesNotMatch(inspect({ key: { deep: secret } }, options), /horse/);
  assert.match(inspect(secret), /^\[secret\]$/);
  assert.equal(format('%s %j %o', secret, secret, secret), '[secret] "[secret]" [secret]');
});

test('a copy, its keys and an error about it show no secret', () => {
  assert.deepEqual(Object.keys(secret), []);
  assert.doesNotMatch(JSON.stringify({ ...secret }), /horse/);
  assert.doesNotMatch(JSON.stringify(structuredClone(secret)), /horse/);
  assert.throws(
    () => assert.equal(secret, 'other'),
    (error) => !String((error as Error).message).includes('horse'),
  );
});

test('the log shows [secret] wherever a secret is', () => {
  const lines: string[] = [];
  const log = createLog({
    level: 'info',
    terminal: false,
    destination: { write: (line) => void lines.push(line) },
  });
  log.info({ anything: secret, deep: { deeper: { deepest: [secret] } } }, `text ${secret}`);
  log.child({ bound: secret }).info('%s', secret);
  assert.equal(lines.length, 2);
  assert.doesNotMatch(lines.join(), /horse/);
  assert.equal(JSON.parse(lines[0] ?? '').anything, '[secret]');
});
