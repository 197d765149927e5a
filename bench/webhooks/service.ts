import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';

const MAIN = fileURLToPath(new URL('../../server/main.ts', import.meta.url));
const START_WITHIN_MS = 60_000;
const ACTIVE_WITHIN_MS = 30_000;
const ACTIVE_POLL_MS = 20;

export type Service = Awaited<ReturnType<typeof startService>>;
export type Tenant = { organizationGuid: string; bankGuid: string };

/** The service as `npm start` runs it: one process, embedded PostgreSQL with fsync on. */
export async function startService(settings: Record<string, string> = {}) {
  const dataDir = mkdtempSync(join(tmpdir(), 'portico-bench-'));
  chmodSync(dataDir, 0o711);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const start = () =>
    spawn(process.execPath, [MAIN, 'serve'], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: {
        ...process.env,
        PORTICO_PORT: String(port),
        PORTICO_DATA_DIR: join(dataDir, 'data'),
        PORTICO_DEMO: 'false',
        PORTICO_WEBHOOK_ALLOW_PRIVATE: 'true',
        PORTICO_LOG_LEVEL: 'error',
        ...settings,
      },
    });
  let child = start();
  await untilReady(url, child);
  const token = readFileSync(join(dataDir, 'data', 'operator.token'), 'utf8').trim();
  const pool = new Pool(url, { connections: 64 });
  let objects = 0;

  async function operate(
    method: 'GET' | 'POST',
    path: string,
    payload?: object | string,
  ): Promise<Record<string, unknown>> {
    return call(method, `/operator${path}`, token, payload);
  }

  async function call(
    method: 'GET' | 'POST',
    path: string,
    bearer: string | undefined,
    /** As JSON text where serialising would be part of the measurement. */
    payload?: object | string,
  ): Promise<Record<string, unknown>> {
    const { statusCode, body } = await pool.request({
      method,
      path,
      headers: {
        'content-type': 'application/json',
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      },
      body: typeof payload === 'object' ? JSON.stringify(payload) : (payload ?? null),
    });
    const answer = (await body.json()) as Record<string, unknown>;
    if (statusCode >= 300) throw new Error(`${method} ${path}: ${statusCode} ${JSON.stringify(answer)}`);
    return answer;
  }

  /** Waits until each endpoint has answered its first event. */
  async function untilActive(path: string): Promise<void> {
    for (const giveUpAt = Date.now() + ACTIVE_WITHIN_MS; Date.now() < giveUpAt; await delay(ACTIVE_POLL_MS))
      if ((await operate('GET', `${path}/subscriptions?state=storing`)).total === 0) return;
    throw new Error('an endpoint did not answer its first event');
  }

  async function end(): Promise<void> {
    child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'exit');
  }

  /** An Organization with a bank and several endpoints, each of which gets all of its events. */
  async function createTenant(hook: string, endpoints: number): Promise<Tenant> {
    const organization = await operate('POST', '/organizations', { name: 'Bench' });
    const path = `/organizations/${organization.guid}`;
    const bank = await operate('POST', `${path}/banks`, { name: 'Bench', environment: 'sandbox' });
    const subscription = { type: 'webhook', name: 'Bench', url: hook, environment: 'sandbox' };
    for (let n = 0; n < endpoints; n += 1) await operate('POST', `${path}/subscriptions`, subscription);
    await untilActive(path);
    return { organizationGuid: String(organization.guid), bankGuid: String(bank.guid) };
  }

  return {
    operate,
    call,
    url,
    dataDir,
    createTenant,
    /** An event of an object of its own. */
    eventOf({ organizationGuid, bankGuid }: Tenant): object {
      objects += 1;
      return {
        organization_guid: organizationGuid,
        bank_guid: bankGuid,
        event_type: 'transfer.completed',
        object_guid: `0199e5a4c1b27d3e8f60${objects.toString(16).padStart(12, '0')}`,
      };
    },
    /** A counter or gauge of this process, with its labels as in the response. */
    async metric(name: string): Promise<number> {
      const { body } = await pool.request({ method: 'GET', path: '/metrics' });
      const line = (await body.text()).split('\n').find((candidate) => candidate.startsWith(`${name} `));
      return Number(line?.split(' ').at(-1) ?? 0);
    },
    async restart(): Promise<void> {
      await end();
      child = start();
      await untilReady(url, child);
    },
    async stop(): Promise<void> {
      await pool.close();
      await end();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function untilReady(url: string, child: ChildProcess): Promise<void> {
  for (const giveUpAt = Date.now() + START_WITHIN_MS; Date.now() < giveUpAt; await delay(50)) {
    if (child.exitCode !== null) break;
    const answer = await fetch(`${url}/readyz`).catch(() => undefined);
    if (answer?.status === 200) return;
  }
  throw new Error('the benchmark service did not start');
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  await once(server.close(), 'close');
  return port;
}

/** Runs a script of this folder as a child process, so that it does not share this process's event loop. */
export function startScript(file: string, ...args: readonly string[]): ChildProcess {
  return fork(fileURLToPath(new URL(file, import.meta.url)), args);
}

export async function ask<Answer>(child: ChildProcess, message: unknown): Promise<Answer> {
  const answered = once(child, 'message');
  child.send(message as object);
  return (await answered)[0] as Answer;
}
