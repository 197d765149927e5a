import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import Fastify from 'fastify';
import { exportJWK, generateKeyPair, importJWK, SignJWT } from 'jose';
import { createApp } from '../../server/app.ts';
import { systemActor } from '../../server/infrastructure/audit/service.ts';
import { readConfig } from '../../server/infrastructure/config/config.ts';
import { completeSecrets } from '../../server/infrastructure/config/generated-secrets.ts';
import { migrate } from '../../server/infrastructure/database/migrate.ts';
import { buildMissingIndexes } from '../../server/infrastructure/database/partitions/partition-indexes.ts';
import { systemResolve } from '../../server/infrastructure/network/resolve.ts';
import { systemClock, systemTimers } from '../../server/infrastructure/runtime/clock.ts';
import { type Failure, isFailure } from '../../server/infrastructure/runtime/failure.ts';
import { createLog } from '../../server/infrastructure/runtime/log.ts';
import { Secret } from '../../server/infrastructure/runtime/secret.ts';
import { objectViewSchema, viewObject } from '../../server/objects/schema.ts';
import { OBJECT_TYPES } from '../../server/objects/types.ts';
import { createSender } from '../../server/webhooks/deliveries/sending/sender.ts';
import { OPERATOR_TOKEN } from '../shared/site.ts';

/** Child process of the benchmarks: the service on one port, bare Fastify routes with the same work on another. */
export type ServerOptions = {
  databaseUrl: string;
  settings: Readonly<Record<string, string>>;
  /** Key pairs, the first of the Organization with the customer. */
  clients: number;
};
export type Fixtures = {
  url: string;
  bareUrl: string;
  clients: readonly { client_id: string; client_secret: string }[];
  customerGuid: string;
};

/** So that no benchmark depends on the limit of one Organization. */
const KEY_PAIRS_OF_EACH = 512;

process.send?.('ready');
const [{ databaseUrl: ownerUrl, settings, clients: clientCount }] = (await once(process, 'message')) as [
  ServerOptions,
];
const databaseUrl = new Secret(ownerUrl);
const config = readConfig({
  PORTICO_DATABASE_URL: databaseUrl.reveal(),
  PORTICO_MASTER_KEY: 'b2'.repeat(32),
  PORTICO_OPERATOR_TOKEN: OPERATOR_TOKEN,
  PORTICO_RATE_LIMIT_API: '1000000000',
  ...settings,
});
const log = createLog({ level: 'warn', terminal: false });
const app = await createApp({
  config: await completeSecrets(config, randomBytes),
  databaseUrl,
  log,
  clock: systemClock,
  timers: systemTimers,
  databaseTimers: systemTimers,
  sender: createSender({ clock: systemClock, timers: systemTimers, resolve: systemResolve }),
  randomBytes,
  operatorOnMainPort: true,
  processMetrics: true,
});
await migrate(app.database);
await buildMissingIndexes({ database: app.database, log });
await app.partitions.prepare();
await app.revocations.start();

async function createOwner() {
  const { guid: organizationGuid } = await app.organizations.create(systemActor, { name: 'Bench' });
  const bank = await app.organizations.createBank(systemActor, organizationGuid, {
    name: 'Bench',
    environment: 'sandbox',
  });
  return { organizationGuid, bank: required(bank) };
}
type Owner = Awaited<ReturnType<typeof createOwner>>;
async function createClients(owner: Owner, count: number): Promise<Fixtures['clients']> {
  const clients: Fixtures['clients'][number][] = [];
  while (clients.length < count) {
    const created = await app.applications.create(systemActor, owner, { name: 'Bench' }, 'optional');
    const { application, secret } = required(created);
    clients.push({ client_id: application.client_id, client_secret: secret.reveal() });
  }
  return clients;
}

const owner = await createOwner();
const { organizationGuid, bank } = owner;
const parts = Array.from({ length: Math.ceil(clientCount / KEY_PAIRS_OF_EACH) }, async (_, index) =>
  createClients(
    index === 0 ? owner : await createOwner(),
    Math.min(KEY_PAIRS_OF_EACH, clientCount - index * KEY_PAIRS_OF_EACH),
  ),
);
const clients = (await Promise.all(parts)).flat();
const customers = required(OBJECT_TYPES.find(({ name }) => name === 'customer'));
const customer = required(
  await app.objects.create(systemActor, { organizationGuid }, customers, {
    type: 'individual',
    bank_guid: bank.guid,
  }),
);

const bare = Fastify();
const pair = await generateKeyPair('ES256', { extractable: true });
const privateKey = await importJWK(await exportJWK(pair.privateKey), 'ES256');

bare.post('/token', async () => {
  const claims = {
    sub: clients[0]?.client_id ?? '',
    organization_guid: organizationGuid,
    scope: 'customers:read',
  };
  const token = await new SignJWT(claims).setProtectedHeader({ alg: 'ES256' }).sign(privateKey);
  return { access_token: token, token_type: 'Bearer', expires_in: 1800, scope: 'customers:read' };
});

bare.get<{ Params: { guid: string } }>(
  '/customers/:guid',
  { schema: { response: { 200: objectViewSchema(customers) } } },
  async (request) => {
    const row = await app.database.queries
      .selectFrom('objects')
      .selectAll()
      .where('organization_guid', '=', organizationGuid)
      .where('environment', '=', 'sandbox')
      .where('bank_guid', '=', bank.guid)
      .where('type', '=', 'customer')
      .where('guid', '=', request.params.guid)
      .executeTakeFirstOrThrow();
    return viewObject(customers, row);
  },
);

const fixtures: Fixtures = {
  url: await app.server.listen({ host: '127.0.0.1', port: 0 }),
  bareUrl: await bare.listen({ host: '127.0.0.1', port: 0 }),
  clients,
  customerGuid: customer.guid,
};
process.send?.(fixtures);
if (process.connected) await once(process, 'disconnect');
await bare.close();
await app.close();

function required<T>(result: T): Exclude<T, Failure | undefined> {
  if (isFailure(result)) throw new Error(result.message);
  return result as Exclude<T, Failure | undefined>;
}
