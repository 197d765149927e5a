import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsageError } from '../../infrastructure/runtime/startup-error.ts';
import { sortArguments } from './arguments.ts';
import { callsOf, type OpenApiDocument } from './calls.ts';
import { type CallRequest, requestOf } from './request.ts';

const strings = { type: 'array', items: { type: 'string' } };
const document: OpenApiDocument = {
  paths: {
    '/operator/objects/{type}/{guid}': {
      put: {
        'x-command': 'objects report',
        parameters: [
          { name: 'notify', in: 'query', schema: { type: 'boolean' } },
          { name: 'tag', in: 'query', schema: strings },
        ],
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: {
                properties: {
                  state: { enum: ['storing', 'completed'] },
                  attempt_count: { type: 'integer' },
                  rate: { type: ['number', 'null'] },
                  ip_allowlist: strings,
                  ports: { type: 'array', items: { type: 'integer' } },
                  details: { type: 'object' },
                  events: { type: 'array', items: { type: 'object' } },
                  anything: {},
                },
              },
            },
          },
        },
      },
    },
    '/operator/keys/rotate': {
      post: {
        'x-command': 'keys rotate',
        requestBody: {
          content: { 'application/json': { schema: { properties: { id: { type: 'string' } } } } },
        },
      },
    },
    '/operator/objects': { get: { 'x-command': 'objects list' } },
    '/api/other': { get: { summary: 'Not an operator call' } },
  },
};
const calls = callsOf(document);
const report = calls.find((call) => call.words[1] === 'report');
const rotate = calls.find((call) => call.words[1] === 'rotate');

function request(typed: readonly string[], standardInput = '', call = report): Promise<CallRequest> {
  assert.ok(call);
  return requestOf(call, sortArguments(call, typed), async () => standardInput);
}

async function bodyOf(typed: readonly string[], standardInput?: string): Promise<unknown> {
  const { body } = await request(['trade', 'abc', ...typed], standardInput);
  return JSON.parse(body ?? 'null');
}

test('the calls are those of the operator API, grouped by resource', () => {
  const names = calls.map((call) => call.words.join(' '));
  assert.deepEqual(names, ['objects report', 'objects list', 'keys rotate']);
});

test('positionals fill the path in order, encoded, wherever the flags are', async () => {
  const { method, path } = await request(['a/b', '--state', 'storing', 'c?d']);
  assert.deepEqual([method, path], ['PUT', '/operator/objects/a%2Fb/c%3Fd']);
});

test('query parameters go to the URL and not into the body', async () => {
  const { path, body } = await request(['t', 'g', '--tag', 'x,y', '--tag', 'z&', '--notify']);
  assert.equal(path, '/operator/objects/t/g?notify=true&tag=x&tag=y&tag=z%26');
  assert.equal(body, '{}');
});

test('the schema determines how a value is parsed', async () => {
  const typed = ['--state', 'completed', '--attempt_count=-3', '--rate', '0.5', '--ports', '80, 443'];
  const json = ['--details', '{"a":[1]}', '--events', '[{"n":1}]', '--events', '{"n":2}'];
  assert.deepEqual(await bodyOf([...typed, ...json]), {
    state: 'completed',
    attempt_count: -3,
    rate: 0.5,
    ports: [80, 443],
    details: { a: [1] },
    events: [{ n: 1 }, { n: 2 }],
  });
  assert.deepEqual(await bodyOf(['--anything', '7']), { anything: 7 });
  assert.deepEqual(await bodyOf(['--anything', 'seven']), { anything: 'seven' });
});

test('lists come from commas and repeated flags, and an empty text clears them', async () => {
  const typed = ['--ip-allowlist', '1.1.1.1,2.2.2.2', '--ip_allowlist=3.3.3.3'];
  assert.deepEqual(await bodyOf(typed), { ip_allowlist: ['1.1.1.1', '2.2.2.2', '3.3.3.3'] });
  assert.deepEqual(await bodyOf(['--ip-allowlist', '']), { ip_allowlist: [] });
});

test('a boolean flag stands alone or takes true or false', async () => {
  for (const [typed, expected] of [
    [['--notify', 't', 'g'], 'true'],
    [['--notify', 'false', 't', 'g'], 'false'],
    [['t', '--notify=false', 'g'], 'false'],
  ] as const)
    assert.equal((await request(typed)).path, `/operator/objects/t/g?notify=${expected}`);
});

test('--json gives the whole body, inline or from standard input, and flags override it', async () => {
  const json = '{"state":"storing","details":{"a":1}}';
  const expected = { state: 'completed', details: { a: 1 } };
  assert.deepEqual(await bodyOf(['--json', json]), JSON.parse(json));
  assert.deepEqual(await bodyOf(['--json', json, '--state', 'completed']), expected);
  assert.deepEqual(await bodyOf(['--state', 'completed', '--json', '-'], json), expected);
  assert.deepEqual(await bodyOf(['--json', '[1]']), [1]);
});

test('an optional body is sent only when a field is given', async () => {
  assert.equal((await request([], '', rotate)).body, undefined);
  assert.equal((await request(['--id', 'x'], '', rotate)).body, '{"id":"x"}');
  assert.equal((await request(['--json', '{}'], '', rotate)).body, '{}');
});

const USAGE = 'Usage: portico operator objects report <type> <guid> [flags]';

for (const [typed, sentence] of [
  [['t'], '<guid> is missing.'],
  [['t', '..'], '<guid> must not be "..".'],
  [['', 'g'], '<type> must not be "".'],
  [['t', 'g', 'more'], 'Unexpected argument "more".'],
  [['t', 'g', '--stat', 'storing'], 'Unknown flag --stat.'],
  [['t', 'g', '-state', 'storing'], 'Unknown flag -state.'],
  [['t', 'g', '--state'], '--state needs a value.'],
  [['t', 'g', '--state', '--notify'], '--state needs a value.'],
  [['t', 'g', '--state', 'storing', '--state', 'completed'], '--state must be given only once.'],
  [['t', 'g', '--notify=yes'], '--notify must be true or false.'],
  [['t', 'g', '--attempt-count', '1.5'], '--attempt-count must be a whole number.'],
  [['t', 'g', '--attempt-count', ''], '--attempt-count must be a whole number.'],
  [['t', 'g', '--attempt-count', '9007199254740993'], '--attempt-count must be a whole number.'],
  [['t', 'g', '--rate', 'fast'], '--rate must be a number.'],
  [['t', 'g', '--details', '{a}'], '--details must be valid JSON.'],
  [['t', 'g', '--json', '{a}'], '--json must be valid JSON.'],
  [['t', 'g', '--json', '{}', '--json', '{}'], '--json must be given only once.'],
  [
    ['t', 'g', '--json', '[]', '--rate', '1'],
    '--json must be a JSON object when it is combined with other flags.',
  ],
] as const)
  test(`misuse prints the usage: ${typed.join(' ')}`, async () => {
    await assert.rejects(
      async () => request(typed),
      (error) => {
        assert.ok(error instanceof UsageError);
        assert.equal(error.message, `${sentence}\n${USAGE}`);
        return true;
      },
    );
  });
