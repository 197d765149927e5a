import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { LIMITED } from '../../../../testing/app/patience.ts';
import { parametersOf } from '../bodies/form-body.ts';
import { segmentsOf } from './allowed-methods.ts';

/**
 * Work per request is linear in its size. Examined, as everything that a loop, a pattern, a sort or a search does with
 * text of a caller's length (`npm run bench -- hostile` measures the same over the wire):
 *
 * - http: form-body, json-scan, long-text, storable, validation (ajv: maxLength before pattern and format; uniqueItems
 *   only with maxItems), filters (100 values), paging, allowed-methods, broken-request (64 KiB), host, access (BEARER),
 *   body-time, source-address (32 hops); Fastify's router, query string and cookies within 16 KiB of headers
 * - tokens: token-request (BASIC), verifier (length before COMPACT_FORM), scopes (100), issuance (4,096 characters)
 * - login: password-rules (128 characters before the patterns), totp (32), messages, guard (JSON_TYPE), passkeys (8 KiB)
 * - applications: allowlist (100 entries of 256, explained up to 64 characters)
 * - network: ipv4, source-address, public-address, special-ranges, outbound (a host name)
 * - subscriptions: url (1,024 characters); ajv-formats: uri, email (254), date-time
 * - deliveries: live filters (100 × each attempt), schedule (Retry-After), excerpt (1 KB), recoveries
 * - events: ingest (1,000 events, sets and maps), guid-window; objects: details, labels (16), feed
 * - files: base64, json-check (a byte at a time, 64 KiB in a turn), inspect (4,100 bytes to file-type), filename (128),
 *   range, disposition, links
 * - dashboard: accepted-encoding; audit: csv (FORMULA)
 *
 * Those below were worse, or do the most. Each gets so much that more than linear work would take hours; a worker
 * runs it, because nothing else can end it.
 */
const MANY = 2_000_000;

const RUNNER = `
  const { parentPort, workerData: { module, name, args } } = require('node:worker_threads');
  import(module).then(async (loaded) => {
    const result = loaded[name](...args);
    if (result?.[Symbol.asyncIterator]) for await (const _ of result);
    parentPort.postMessage('done');
  }).catch((error) => parentPort.postMessage(String(error)));
`;

const CASES: Record<string, [module: string, name: string, ...args: unknown[]]> = {
  'slashes of a path': ['./allowed-methods.ts', segmentsOf.name, `${'/'.repeat(MANY)}x`],
  'spaces of Accept-Encoding': [
    '../../../dashboard/accepted-encoding.ts',
    'acceptsEncoding',
    `gzip${' '.repeat(MANY)}x`,
    'br',
  ],
  'names of a form': [
    '../bodies/form-body.ts',
    parametersOf.name,
    Buffer.from(Array.from({ length: 200_000 }, (_, index) => `${index}=`).join('&')),
  ],
  'padding of base64': ['../../../files/processing/content/base64.ts', 'decodeBase64', ['='.repeat(MANY)]],
  'base64 in small pieces': [
    '../../../files/processing/content/base64.ts',
    'decodeBase64',
    Array.from({ length: 500_000 }, () => 'AAAA'),
  ],
  'an entry of an address list': [
    '../../../credentials/applications/allowlists/allowlist.ts',
    'parseAllowlist',
    [' '.repeat(MANY)],
    { minPrefix: 16 },
  ],
};

for (const [what, [module, name, ...args]] of Object.entries(CASES))
  test(`${what}: the work is linear`, LIMITED, async ({ signal }) => {
    const workerData = { module: new URL(module, import.meta.url).href, name, args };
    const worker = new Worker(RUNNER, { eval: true, workerData });
    after(() => worker.terminate());
    signal.addEventListener('abort', () => void worker.terminate());
    const [message] = await once(worker, 'message');
    // A rejection is fine too.
    assert.match(String(message), /^(done|InvalidBase64)/);
  });
