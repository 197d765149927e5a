import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { curlCommandOf } from './curl-command.ts';

test('a shell passes the exact URL, headers and body to curl', () => {
  const request = {
    url: "https://partner.example/it's?a=1&b=$HOME",
    headers: { 'content-type': 'application/json', 'webhook-id': 'a"b' },
    body: '{"name":"O\'Neil `x` $(y) \\n Zoë"}',
  };
  const script = `curl() { printf '%s\\n' "$@"; }\n${curlCommandOf(request)}`;
  const passed = execFileSync('sh', ['-c', script], { encoding: 'utf8' }).trimEnd().split('\n');
  assert.deepEqual(passed, [
    '-gi',
    request.url,
    ...['-H', 'content-type: application/json', '-H', 'webhook-id: a"b'],
    ...['--data-raw', request.body],
  ]);
});
