import assert from 'node:assert/strict';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { generateTypes } from './openapi-types.ts';
import { EXPECTED, run, startService } from './service.ts';

const CLIENT = `
import createClient from 'openapi-fetch';
import type { components, paths } from './portico.ts';

const [baseUrl = '', clientId = '', clientSecret = '', userToken = ''] = process.argv.slice(2);
const portico = createClient<paths>({ baseUrl });

const { data: token } = await portico.POST('/oauth/token', {
  body: {
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
    scope: 'customers:read customers:execute',
  },
});
const headers = { authorization: \`Bearer \${token?.access_token}\` };

const customer: components['schemas']['NewCustomer'] = { type: 'individual', name: 'Ada Lovelace' };
const created = await portico.POST('/api/customers', { headers, body: customer });

const subscriptions = await portico.GET('/api/subscriptions', {
  headers: { authorization: \`Bearer \${userToken}\` },
  params: { query: { per_page: 10, environment: 'sandbox' } },
});

// @ts-expect-error A customer has a type.
const refused = await portico.POST('/api/customers', { headers, body: { name: 'Ada Lovelace' } });
const error: components['schemas']['Error'] | undefined = refused.error;

console.log(
  JSON.stringify({
    customer: created.data?.name?.full,
    subscriptions: subscriptions.data?.total,
    error: error?.message_code,
  }),
);
`;

const TSCONFIG = {
  compilerOptions: {
    target: 'esnext',
    module: 'nodenext',
    lib: ['esnext', 'dom'],
    types: ['node'],
    noEmit: true,
    strict: true,
    allowImportingTsExtensions: true,
  },
};

const root = join(import.meta.dirname, '..', '..');

test('a client with the types of openapi-typescript type-checks and works', async () => {
  const { document, directory, credentials } = await startService();
  await symlink(join(root, 'node_modules'), join(directory, 'node_modules'));
  await writeFile(join(directory, 'package.json'), '{"type":"module"}');
  await writeFile(join(directory, 'tsconfig.json'), JSON.stringify(TSCONFIG));
  await writeFile(join(directory, 'portico.ts'), await generateTypes(document));
  await writeFile(join(directory, 'client.ts'), CLIENT);
  const tsc = await run(join(root, 'node_modules', '.bin', 'tsc'), ['-p', directory]).catch(
    (error: { stdout: string }) => error,
  );
  assert.equal(tsc.stdout, '');
  const { stdout } = await run(process.execPath, [join(directory, 'client.ts'), ...credentials]);
  assert.deepEqual(JSON.parse(stdout), EXPECTED);
});
