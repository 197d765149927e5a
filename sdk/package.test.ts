import assert from 'node:assert/strict';
import { symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { EdgeVM } from '@edge-runtime/vm';
import { createTestApp } from '../testing/app/app.ts';
import { listenAnywhere } from '../testing/app/http-server.ts';
import { createTenant } from '../testing/app/tenant.ts';
import { bundle, findProgram, installSdk, ROOT, run } from '../testing/packages/sdk-package.ts';
import manifest from './package.json' with { type: 'json' };
import { VERSION } from './src/version.ts';

const app = await createTestApp();
const { bankKey } = await createTenant(app);
// Not localhost: Node.js gives an address of several only 250 ms to connect.
const address = `http://127.0.0.1:${await listenAnywhere(app.server)}`;
const project = await installSdk();
const ARGUMENTS = [address, bankKey.clientId, bankKey.secret] as const;
const EXPECTED = {
  customer: 'Ada Lovelace',
  listed: true,
  error: 'NotFoundError',
  file: 'bill.pdf',
  event: 'bank.created',
};

/** Uses each part of the SDK, against the service. Links of the service have its default address. */
const PROGRAM = `
import { NotFoundError, Portico, createReceiver, fetchAdapter, signWebhook } from '@portico/sdk';

export async function program(address, clientId, clientSecret) {
  const portico = new Portico({
    clientId,
    clientSecret,
    scopes: ['customers:read', 'customers:execute', 'files:execute'],
    environment: 'sandbox',
    baseUrl: address,
    fetch: (url, init) => fetch(url.replace('http://localhost:4000', address), init),
  });
  const customer = await portico.customers.create({ type: 'individual', name: 'Ada Lovelace' });
  let listed = false;
  for await (const { guid } of portico.customers.list()) listed ||= guid === customer.guid;
  const error = await portico.customers.get('0'.repeat(32)).catch((error) => error);

  const content = new Blob(['%PDF-1.7', '%'.repeat(2_000_000)], { type: 'application/pdf' });
  let sent = 0;
  const file = await portico.files.upload(content, {
    type: 'utility_bill',
    filename: 'bill.pdf',
    customer_guid: customer.guid,
    onProgress: ({ sentBytes }) => { sent = sentBytes; },
  });
  if (sent !== content.size) throw new Error('progress ended at ' + sent);

  const guid = 'a'.repeat(32);
  const key = 'b'.repeat(64);
  const body = JSON.stringify({
    guid, organization_guid: guid, bank_guid: guid, event_type: 'bank.created', object_guid: guid, environment: 'sandbox',
  });
  let work;
  const event = await new Promise((resolve, reject) => {
    const receiver = createReceiver({ keys: key, on: { 'bank.created': resolve }, onError: reject });
    signWebhook(body, key, { guid }).then(async (headers) => {
      const request = new Request('http://localhost/', { method: 'POST', body, headers });
      const { status } = await fetchAdapter(receiver)(request, { waitUntil: (promise) => { work = promise; } });
      if (status !== 200) reject(new Error('status ' + status));
    });
  });
  await work;
  return {
    customer: customer.name.full,
    listed,
    error: error instanceof NotFoundError && error.name,
    file: file.filename,
    event: event.event_type,
  };
}
`;
const MAIN = `${PROGRAM}
const { argv } = globalThis.process;
console.log(JSON.stringify(await program(...argv.slice(2))));
`;
const COMMONJS = `
const { Portico, VERSION } = require('@portico/sdk');
const { fileFromPath } = require('@portico/sdk/node');
console.log(JSON.stringify([typeof Portico, typeof fileFromPath, VERSION]));
`;
const TYPED = `
import { createReceiver, type Customer, NotFoundError, Portico, QuoteUsedError, verifyWebhook } from '@portico/sdk';
import { fileFromPath } from '@portico/sdk/node';
import { expressAdapter } from '@portico/sdk/webhooks';

const portico = new Portico({ clientId: 'a', clientSecret: 'b', scopes: ['customers:read'] });
export async function program(): Promise<Customer[]> {
  const customers: Customer[] = [];
  for await (const customer of portico.customers.list({ type: ['individual'], created_at_gte: new Date() }))
    customers.push(customer);
  const event = await verifyWebhook('', new Headers(), ['key']);
  if (event.event_type === 'transfer.completed') {
    const { amount, transfer_type } = await portico.fetchObject(event);
    console.log(amount, transfer_type);
  }
  const { data, requestId } = await portico.request('GET /api/quotes/{guid}', { path: { guid: 'g' } });
  const file = await portico.files.upload(await fileFromPath('bill.pdf'), { type: 'utility_bill', customer_guid: 'g' });
  console.log(data.guid, requestId, file.sha256);
  return customers;
}
export function report(error: unknown): string | undefined {
  if (error instanceof QuoteUsedError) return error.messageCode satisfies 'quote_used';
  return error instanceof NotFoundError ? error.requestId : undefined;
}
export const handler = expressAdapter(
  createReceiver({ keys: 'key', on: { 'trade.failed': ({ object_guid }) => console.log(object_guid) } }),
);
// @ts-expect-error A customer has a type.
portico.customers.create({ name: 'Ada' });
// @ts-expect-error Quotes cannot be changed.
portico.quotes.update('g', {});
// @ts-expect-error A path needs its guid.
portico.request('GET /api/quotes/{guid}');
// @ts-expect-error There is no such event.
createReceiver({ keys: 'key', on: { 'trade.exploded': () => {} } });
`;

await writeFile(join(project, 'main.mjs'), MAIN);
await writeFile(join(project, 'main.cjs'), COMMONJS);
await writeFile(join(project, 'main.ts'), TYPED);

test('the versions agree', () => {
  assert.equal(VERSION, manifest.version);
});

for (const [name, program, version] of [
  ['Node.js 20', 'node', 'v20.'],
  ['Node.js 26', 'node', 'v26.'],
  ['Bun', 'bun', ''],
  ['Deno', 'deno', ''],
] as const)
  test(`works in ${name}`, async (t) => {
    const path = await findProgram(program, version);
    if (!path) return t.skip(`there is no ${name} on the PATH`);
    const options = program === 'deno' ? ['run', '--allow-all'] : [];
    const { stdout } = await run(path, [...options, join(project, 'main.mjs'), ...ARGUMENTS], {
      cwd: project,
    });
    assert.deepEqual(JSON.parse(stdout), EXPECTED);
    const { stdout: required } = await run(path, [...options, join(project, 'main.cjs')], { cwd: project });
    assert.deepEqual(JSON.parse(required), ['function', 'function', VERSION]);
  });

test('works in an edge runtime, which has Web APIs only', async () => {
  const vm = new EdgeVM();
  assert.equal(vm.evaluate('typeof process + typeof Buffer + typeof require'), 'undefined'.repeat(3));
  vm.evaluate(await bundle(project, PROGRAM, 'iife'));
  const { program } = vm.evaluate('program') as { program(...args: readonly string[]): Promise<object> };
  assert.deepEqual({ ...(await program(...ARGUMENTS)) }, EXPECTED);
});

/** Honours NODE_PATH, so that the 165 MB of workerd need not be installed here. */
function loadMiniflare() {
  const name = 'miniflare';
  try {
    return createRequire(import.meta.url)(name).Miniflare as new (
      options: object,
    ) => Miniflare;
  } catch {
    return undefined;
  }
}
type Miniflare = {
  dispatchFetch(url: string, init: RequestInit): Promise<Response>;
  dispose(): Promise<void>;
};

test('works in workerd', async (t) => {
  const Miniflare = loadMiniflare();
  if (!Miniflare) return t.skip('miniflare is neither installed nor on the NODE_PATH');
  const script = await bundle(
    project,
    `${PROGRAM}\nexport default { fetch: async (request) => Response.json(await program(...(await request.json()))) };`,
  );
  const miniflare = new Miniflare({ modules: true, script, compatibilityDate: '2026-04-01' });
  const init = { method: 'POST', body: JSON.stringify(ARGUMENTS) };
  const response = await miniflare.dispatchFetch('http://localhost/', init);
  const answer = await response.text();
  await miniflare.dispose();
  assert.deepEqual(JSON.parse(answer), EXPECTED);
});

for (const [compiler, lib, types, skipLibCheck, modules] of [
  ['typescript', ['es2022'], ['node'], false, { module: 'nodenext' }],
  ['typescript', ['es2022', 'dom'], [], false, { module: 'nodenext' }],
  // Checking its own library takes this compiler most of a minute.
  ['typescript-5', ['es2022'], ['node'], true, { module: 'nodenext' }],
  // Without `exports`, as many projects with CommonJS have it.
  ['typescript-5', ['es2022'], ['node'], true, { module: 'commonjs', moduleResolution: 'node10' }],
] as const)
  test(`type-checks with ${[compiler, ...lib, ...types, ...Object.values(modules)]}`, async () => {
    await symlink(join(ROOT, 'node_modules', '@types'), join(project, 'node_modules', '@types')).catch(
      () => {},
    );
    const compilerOptions = {
      ...{ lib, types, skipLibCheck, target: 'es2022', strict: true, noEmit: true, ...modules },
      exactOptionalPropertyTypes: true,
    };
    const config = join(project, 'tsconfig.json');
    await writeFile(config, JSON.stringify({ compilerOptions, files: ['main.ts'] }));
    const program = join(ROOT, 'node_modules', compiler, 'bin', 'tsc');
    const tsc = await run(process.execPath, [program, '-p', config]).catch(
      (error: { stdout: string }) => error,
    );
    assert.equal(tsc.stdout, '');
  });

test('verification alone is smaller than 3 KB, all of it than 15 KB, compressed', async (t) => {
  for (const [exported, limit] of [
    ['{ verifyWebhook }', 3_000],
    ['*', 15_000],
  ] as const) {
    const size = gzipSync(await bundle(project, `export ${exported} from '@portico/sdk';`)).length;
    t.diagnostic(`${exported}: ${size} bytes`);
    assert.ok(size > 500 && size < limit, `${exported} has ${size} bytes`);
  }
});
