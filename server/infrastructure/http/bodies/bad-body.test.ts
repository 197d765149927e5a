import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { ANY_CHARACTER } from '../../../../testing/api/any-character.ts';
import { type JsonSchema, sampleOf, wrongValues } from '../../../../testing/api/json-samples.ts';
import {
  assertQuietLog,
  assertRefused,
  createOperations,
  createSharedRules,
  EXTREME_MOMENTS,
  invalid,
  jsonBodyOf,
  type Operation,
  partOf,
  refusalOfType,
  takesBytes,
  UNLIMITED,
} from '../../../../testing/api/operations.ts';
import { createTestApp } from '../../../../testing/app/app.ts';
import { createCustomer } from '../../../../testing/objects/customers.ts';
import { createSubscription } from '../../../../testing/webhooks/subscriptions.ts';

/** How each route rejects an invalid body (contract, sections 1 and 4). */
const app = await createTestApp({ environment: UNLIMITED });
const { operations: all, call, tenant } = await createOperations(app);
const { guid: subscriptionGuid } = await createSubscription(app, tenant);
const customerGuid = await createCustomer(app, tenant.bankGuid);
const operations = all.filter((operation) => operation.requestBody && !takesBytes(operation));
const FORM_TYPE = 'application/x-www-form-urlencoded';
const JSON_TYPE = { 'content-type': 'application/json' };
const ANY_VALUE = fc.oneof(fc.jsonValue(), fc.string({ unit: ANY_CHARACTER }));

const PROTOTYPE_FIELDS = [
  ['"__proto__":{"polluted":true}', '__proto__'],
  ['"constructor":{"prototype":{"polluted":true}}', 'constructor'],
  ['"constructor":1', 'constructor'],
  ['"__proto__":null', '__proto__'],
  ['"\\u005f_proto__":{"polluted":true}', '__proto__'],
  ['"x":{"~/":[{"a":0},{"__proto__":{"polluted":true}}]}', 'x.~/[1].__proto__'],
] as const;
const valuesOf = createSharedRules();

test('the OpenAPI document lists routes with a body', () => {
  assert.ok(operations.length >= 4, `${operations.length} routes`);
});

for (const operation of operations) {
  const { operationId, requestBody } = operation;
  const part = partOf(operation);
  const send = (payload: string | Buffer | object, headers: Record<string, string> = JSON_TYPE) =>
    call(operation, { payload, headers });

  test(`${operationId}: rejects another content type, and names those that it accepts`, async () => {
    const names = `Content-Type must be ${Object.keys(requestBody?.content ?? {}).join(' or ')}`;
    const types = ['text/x-unheard-of', 'nonsense', 'application/jsonx'];
    for (const type of valuesOf(['type', part, refusalOfType(operation)], types)) {
      assertRefused(operation, await send('x', { 'content-type': type }), {
        ...refusalOfType(operation),
        names,
      });
    }
  });

  test(`${operationId}: rejects a body over the size limit`, async () => {
    const [contentType = ''] = Object.keys(requestBody?.content ?? {});
    const headers = { 'content-type': contentType, 'content-length': String(1024 ** 5) };
    assertRefused(operation, await send('{}', headers), { status: 413, code: 'payload_too_large' });
  });

  test(`${operationId}: rejects a compressed body, and says how to send it`, async () => {
    const types = Object.keys(requestBody?.content ?? {});
    for (const type of valuesOf(['compressed', part, types], types)) {
      const headers = { 'content-type': type, 'content-encoding': 'gzip' };
      const answer = await send(gzipSync('{}'), headers);
      const names = 'The request body must not be compressed';
      assertRefused(operation, answer, { status: 415, code: 'unsupported_media_type', names });
      assert.equal(answer.headers['accept-encoding'], 'identity');
    }
  });

  if (requestBody?.content[FORM_TYPE]) {
    test(`${operationId}: rejects a form with invalid UTF-8 or U+0000`, async () => {
      const headers = { 'content-type': FORM_TYPE };
      for (const form of [
        'client_id=%00',
        'client_id=a%00b',
        'client_id=a&client_id=b',
        Buffer.from([0xc3, 0x28]),
      ])
        assertRefused(operation, await send(form, headers), { status: 400, code: 'invalid_request' });
    });
  }

  const schema = jsonBodyOf(operation);
  if (!schema) continue;

  test(`${operationId}: rejects invalid JSON as malformed`, async () => {
    const identity = { ...JSON_TYPE, 'content-encoding': 'Identity' };
    assertRefused(operation, await send('{', identity), { status: 400, code: 'malformed_json' });
    const invalidUtf8 = Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xc3, 0x28, 0x22, 0x7d]);
    const bodies = ['{', 'x', '{"a":1,}', "{'a':1}", 'NaN', '{"__proto__":{}', invalidUtf8];
    for (const body of valuesOf(['malformed', part], bodies))
      assertRefused(operation, await send(body), { status: 400, code: 'malformed_json' });
  });

  test(`${operationId}: rejects a repeated field by name`, async () => {
    const [[name, value] = ['a', 1]] = Object.entries(sampleOf(schema) as object);
    const escaped = `\\u${name.charCodeAt(0).toString(16).padStart(4, '0')}${name.slice(1)}`;
    const bodies = [
      [name, `{"${name}":${JSON.stringify(value)},"b":{},"${name}":${JSON.stringify(value)}}`],
      [name, `{"${name}":[],"b":"\\"{:","${escaped}" :1}`],
      [`b[1].${name}`, `{"b":[{"a":1},{"a":1,"${name}":{"a":{},"b":[0,1]},"${name}":1}]}`],
    ] as const;
    for (const [path, body] of valuesOf(['repeated', part], bodies))
      assertRefused(operation, await send(body), invalid(`${path} must be sent only once`));
  });

  test(`${operationId}: rejects a missing body and a body that is not an object`, async () => {
    const bodies = ['', '[]', 'null', '1', '"x"', 'true'];
    for (const body of valuesOf(['no object', part], bodies, { later: 2 })) {
      assertRefused(operation, await send(body), invalid('The request body'));
    }
  });

  test(`${operationId}: rejects an unknown field by name, or ignores it where an RFC requires that`, async () => {
    const valid = sampleOf(schema) as object;
    const answer = await send({ ...valid, no_such_field: 1 });
    // RFC 6749, section 3.2: the token endpoints "MUST ignore unrecognized request parameters".
    if (operation.path.startsWith('/oauth/')) assert.deepEqual(answer.body, (await send(valid)).body);
    else assertRefused(operation, answer, invalid('no_such_field'));
  });

  test(`${operationId}: a field that could change a prototype is an unknown field`, async () => {
    const valid = sampleOf(schema) as Record<string, unknown>;
    const expected = operation.path.startsWith('/oauth/') ? (await send(valid)).body : undefined;
    for (const [field, name] of valuesOf(['prototype', part], PROTOTYPE_FIELDS)) {
      const answer = await send(
        `${JSON.stringify(valid).slice(0, -1)}${Object.keys(valid).length ? ',' : ''}${field}}`,
      );
      if (expected) assert.deepEqual(answer.body, expected, field);
      else assertRefused(operation, answer, invalid(`${name} is not a parameter of this operation`));
    }
    assert.equal(Object.hasOwn(Object.prototype, 'polluted'), false);
    assert.equal(({} as { polluted?: true }).polluted, undefined);
  });

  test(`${operationId}: rejects a missing field by name`, async () => {
    for (const name of schema.required ?? []) {
      const { [name]: _, ...rest } = sampleOf(schema) as Record<string, unknown>;
      assertRefused(operation, await send(rest), { status: 400, code: 'missing_parameter', names: name });
    }
  });

  test(`${operationId}: rejects a value of the wrong type by the name of its field`, async () => {
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      const values = wrongValues(property).filter((wrong) => wrong !== null);
      for (const value of valuesOf(['wrong', property], values)) {
        const body = { ...(sampleOf(schema) as object), [name]: value };
        assertRefused(operation, await send(body), invalid(name));
      }
    }
  });

  test(`${operationId}: null counts as absent`, async () => {
    const valid = sampleOf(schema) as Record<string, unknown>;
    const codeOf = async (body: object) => (await send(body)).body.message_code;
    for (const name of Object.keys(schema.properties ?? {})) {
      const { [name]: _, ...absent } = valid;
      assert.equal(await codeOf({ ...valid, [name]: null }), await codeOf(absent), name);
    }
    const unknown = await send({ ...valid, no_such_field: null });
    if (!operation.path.startsWith('/oauth/')) assertRefused(operation, unknown, invalid('no_such_field'));
  });

  test(`${operationId}: rejects unsupported characters by the name of the field`, async () => {
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      if (!isFreeText(property)) continue;
      for (const text of valuesOf(['text', property], ['a\\u0000b', '\\ud800', 'x\\udc00'])) {
        const body = JSON.stringify({ ...(sampleOf(schema) as object), [name]: '#' }).replace('#', text);
        assertRefused(operation, await send(body), invalid(name));
      }
    }
  });

  test(`${operationId}: rejects deep nesting`, async () => {
    const deep = '['.repeat(4_000) + ']'.repeat(4_000);
    // The depth is counted before the fields are known, so one of them is enough.
    const [name] = Object.keys(schema.properties ?? {});
    if (name) assertRefused(operation, await send(`{"${name}":[${deep}]}`), invalid(name));
    assertRefused(operation, await send(deep), invalid('The request body'));
  });

  test(`${operationId}: rejects too many keys or entries, and a body over the limit of the route`, async () => {
    const keys = `{${Array.from({ length: 1_000 }, (_, index) => `"${index}":0`)}}`;
    const entries = `[${'0,'.repeat(8_000)}0]`;
    assertRefused(operation, await send(keys), invalid('at most 100 keys'));
    if (limitOf(operation) > SMALL_BYTES)
      assertRefused(operation, await send(`[${entries},${entries}]`), invalid('at most 10000 entries'));
    const spaces = ' '.repeat(limitOf(operation));
    assertRefused(operation, await send(`${spaces}{}`), { status: 413, code: 'payload_too_large' });
  });

  test(`${operationId}: arbitrary JSON causes no server error`, async () => {
    const fields = Object.keys(schema.properties ?? {}).map((name) => [name, ANY_VALUE] as const);
    const body = fc.oneof(ANY_VALUE, fc.record(Object.fromEntries(fields), { requiredKeys: [] }));
    await fc.assert(
      fc.asyncProperty(body, async (sent) => {
        const answer = await send(JSON.stringify(sent));
        assert.ok(answer.status < 500 && answer.headers['x-request-id'], JSON.stringify(answer.body));
      }),
      { numRuns: 12 },
    );
  });
}

const EXTREME_NUMBERS = [0, 1, -1, 2 ** 31, 2 ** 53 - 1, 2 ** 53, -(2 ** 63), 1e308, 1.5];
const SMALL_BYTES = 16 * 1_024;

function limitOf({ path }: Operation): number {
  if (path === '/api/files') return 11 * 1024 ** 2;
  if (path === '/operator/events') return 1024 ** 2;
  return path.startsWith('/api/') || path.startsWith('/operator/') ? 256 * 1_024 : SMALL_BYTES;
}

/** Existing objects, so that a request reaches the database. */
const REFERENCES: Record<string, string> = {
  organization_guid: tenant.organizationGuid,
  bank_guid: tenant.bankGuid,
  customer_guid: customerGuid,
  subscription_guid: subscriptionGuid,
};

for (const operation of operations) {
  const { properties = {}, ...schema } = jsonBodyOf(operation) ?? {};
  const fields = Object.entries(properties);
  const moments = fields.filter(([, { format }]) => format === 'date-time').map(([name]) => name);
  const numbers = fields.filter(([, { type }]) => type === 'integer').map(([name]) => name);
  if (moments.length + numbers.length === 0) continue;

  test(`${operation.operationId}: extreme dates and numbers cause no server error`, async () => {
    const references = Object.entries(REFERENCES).filter(([name]) => name in properties);
    const valid = { ...(sampleOf({ ...schema, properties }) as object), ...Object.fromEntries(references) };
    const bodies = [
      // In ascending order, because some fields must precede others.
      ...EXTREME_MOMENTS.map((_, index) =>
        Object.fromEntries(
          moments.map((name, at) => [name, EXTREME_MOMENTS[index + at] ?? EXTREME_MOMENTS[0]]),
        ),
      ),
      ...moments.flatMap((name) => EXTREME_MOMENTS.map((moment) => ({ [name]: moment }))),
      ...numbers.flatMap((name) => EXTREME_NUMBERS.map((number) => ({ [name]: number }))),
    ];
    for (const body of bodies) {
      const answer = await call(operation, { payload: { ...valid, ...body }, headers: JSON_TYPE });
      assert.ok(answer.status < 500, `${JSON.stringify(body)}: ${JSON.stringify(answer.body)}`);
    }
  });
}

test('no request caused a server error or filled the log', () => assertQuietLog(app));

function isFreeText({ type, pattern, format }: JsonSchema): boolean {
  return type === 'string' && format === undefined && (pattern === undefined || pattern === '\\S');
}
