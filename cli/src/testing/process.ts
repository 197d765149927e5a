import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { after } from 'node:test';
import { watch } from '../../../testing/app/serve.ts';
import type { Tenant } from '../../../testing/app/tenant.ts';

const BIN = join(import.meta.dirname, '..', 'bin.ts');

/** A command as its own process, with the key pair of a tenant in its variables. */
export function startCli(
  args: readonly string[],
  { tenant, url, env }: { tenant: Tenant; url: string; env: Readonly<Record<string, string>> },
) {
  const child = spawn(process.execPath, [BIN, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      PORTICO_CLI_URL: url,
      PORTICO_CLI_CLIENT_ID: tenant.organizationKey.clientId,
      PORTICO_CLI_CLIENT_SECRET: tenant.organizationKey.secret,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      ...env,
    },
  });
  after(() => child.kill('SIGKILL'));
  return { child, ...watch(child) };
}
