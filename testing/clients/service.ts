import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { promisify } from 'node:util';
import { createTestApp } from '../app/app.ts';
import { listenAnywhere } from '../app/http-server.ts';
import { createTenant, userToken } from '../app/tenant.ts';

export const run = promisify(execFile);

/** A running service, its document, and the credentials that a generated client is started with. */
export async function startService() {
  const app = await createTestApp();
  const { bankKey, organizationGuid } = await createTenant(app);
  const url = `http://127.0.0.1:${await listenAnywhere(app.server)}`;
  const directory = await mkdtemp(join(tmpdir(), 'portico-client-'));
  after(() => rm(directory, { recursive: true, force: true }));
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as object;
  const credentials = [url, bankKey.clientId, bankKey.secret, await userToken(app, organizationGuid)];
  return { document, directory, credentials };
}

/** The output of a client that creates a customer, lists subscriptions and sends a customer without a type. */
export const EXPECTED = { customer: 'Ada Lovelace', subscriptions: 0, error: 'missing_parameter' };
