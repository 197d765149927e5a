import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { createApp } from '../../server/app.ts';
import { readConfig } from '../../server/infrastructure/config/config.ts';
import { completeSecrets } from '../../server/infrastructure/config/generated-secrets.ts';
import { systemResolve } from '../../server/infrastructure/network/resolve.ts';
import { systemClock, systemTimers } from '../../server/infrastructure/runtime/clock.ts';
import { createLog } from '../../server/infrastructure/runtime/log.ts';
import { Secret } from '../../server/infrastructure/runtime/secret.ts';
import { createSender } from '../../server/webhooks/deliveries/sending/sender.ts';

/** The partner's and the operator's document, which includes the calls of the dashboard. Nothing connects to the database: a document needs routes only. */
export async function readDocuments(): Promise<Record<'partner' | 'operator', string>> {
  const config = readConfig({
    PORTICO_DATABASE_URL: 'postgres://localhost:1/none',
    PORTICO_DATA_DIR: tmpdir(),
    PORTICO_BASE_URL: 'https://portico.example',
    PORTICO_MASTER_KEY: '00'.repeat(32),
    PORTICO_OPERATOR_TOKEN: 'portico_op_the-token-of-no-service-at-all',
  });
  const app = await createApp({
    config: await completeSecrets(config, randomBytes),
    databaseUrl: new Secret('postgres://localhost:1/none'),
    log: createLog({ level: 'silent', terminal: false }),
    clock: systemClock,
    timers: systemTimers,
    databaseTimers: systemTimers,
    sender: createSender({ clock: systemClock, timers: systemTimers, resolve: systemResolve }),
    randomBytes,
    operatorOnMainPort: false,
  });
  const operator = await app.createOperatorServer();
  const documents = {
    partner: (await app.server.inject('/openapi.json')).body,
    operator: (await operator.inject('/operator/openapi.json')).body,
  };
  await operator.close();
  await app.close();
  return documents;
}
