import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after } from 'node:test';
import type { InjectOptions } from 'fastify';
import { createApp } from '../../server/app.ts';
import type { DashboardFiles } from '../../server/dashboard/files.ts';
import type { Storage } from '../../server/files/storage/storage.ts';
import { type Environment, readConfig } from '../../server/infrastructure/config/config.ts';
import { completeSecrets } from '../../server/infrastructure/config/generated-secrets.ts';
import { type Resolve, systemResolve } from '../../server/infrastructure/network/resolve.ts';
import { systemTimers, type Timers } from '../../server/infrastructure/runtime/clock.ts';
import { createLog } from '../../server/infrastructure/runtime/log.ts';
import type { PasswordHasher } from '../../server/people/login/passwords/passwords.ts';
import { EXCHANGE_TIMEOUT_MS } from '../../server/webhooks/deliveries/sending/exchange.ts';
import { createSender } from '../../server/webhooks/deliveries/sending/sender.ts';
import { watchDescribedStatuses } from '../api/described-statuses.ts';
import { createTestDatabase, type TestDatabase } from '../database/database.ts';
import { type DrainableApp, drainable } from './drain.ts';
import { createFakeClock, type FakeClock } from './fake-clock.ts';
import { fastPasswordHasher } from './password-hasher.ts';

export const OPERATOR_TOKEN = 'portico_op_the-operator-token-of-every-test';

watchDescribedStatuses();

export type Answer<Body = Record<string, unknown>> = {
  status: number;
  headers: Record<string, unknown>;
  body: Body;
};

export type TestApp = DrainableApp & {
  clock: FakeClock;
  testDatabase: TestDatabase;
  dataDir: string;
  logged: readonly string[];
  call(options: InjectOptions & { token?: string }): Promise<Answer>;
  /** A call to the operator API with the correct token. */
  operate(
    method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE',
    path: string,
    payload?: object,
  ): Promise<Answer>;
};

/** The app on its own database, called without a network; everything is closed after the test file. */
export async function createTestApp({
  environment = {},
  testDatabase,
  clock = createFakeClock(),
  databaseTimers = systemTimers,
  resolve = systemResolve,
  dataDir: sharedDataDir,
  dashboard,
  passwordHasher = fastPasswordHasher,
  wrapStorage,
}: {
  environment?: Environment;
  testDatabase?: TestDatabase;
  clock?: FakeClock;
  /** The database answers in real time, so its connections are checked in real time unless a test says otherwise. */
  databaseTimers?: Timers;
  /** Resolves the host names of endpoints. */
  resolve?: Resolve;
  /** Each app has its own by default. */
  dataDir?: string;
  dashboard?: DashboardFiles;
  passwordHasher?: PasswordHasher;
  /** To make the storage of files fail. */
  wrapStorage?: (storage: Storage) => Storage;
} = {}): Promise<TestApp> {
  const ownDatabase = testDatabase ?? (await createTestDatabase());
  const dataDir = sharedDataDir ?? (await mkdtemp(join(tmpdir(), 'portico-test-')));
  const config = readConfig({
    PORTICO_DATABASE_URL: ownDatabase.url.reveal(),
    PORTICO_DATABASE_CONNECTIONS: '5',
    PORTICO_DATA_DIR: dataDir,
    PORTICO_MASTER_KEY: 'a1'.repeat(32),
    PORTICO_OPERATOR_TOKEN: OPERATOR_TOKEN,
    ...environment,
  });
  const logged: string[] = [];
  const log = createLog({
    level: 'debug',
    terminal: false,
    destination: { write: (line) => void logged.push(line) },
  });
  const app = await createApp({
    config: await completeSecrets(config, randomBytes),
    databaseUrl: ownDatabase.url,
    log,
    clock,
    timers: clock,
    databaseTimers,
    sender: createSender({ clock, timers: clock, resolve }),
    resolve,
    randomBytes,
    // One server for every route, so that tests need not distinguish the listeners.
    operatorOnMainPort: true,
    dashboard,
    passwordHasher,
    wrapStorage,
  });
  await app.partitions.prepare();
  await app.revocations.start();
  after(async () => {
    // Requests to hanging endpoints end by their timeout, which is on this clock.
    const stopped = app.dispatcher.stop();
    clock.advance(EXCHANGE_TIMEOUT_MS);
    await stopped;
    await app.close();
    if (!sharedDataDir) await rm(dataDir, { recursive: true, force: true });
    if (!testDatabase) await ownDatabase.drop();
  });

  async function call({ token, ...options }: InjectOptions & { token?: string }): Promise<Answer> {
    const headers = {
      ...options.headers,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    };
    const response = await app.server.inject({ ...options, headers, payloadAsStream: true });
    const answer = { status: response.statusCode, headers: response.headers, body: {} };
    const type = String(response.headers['content-type']);
    // Streams do not end, so their beginning is enough.
    if (type.startsWith('text/event-stream')) response.raw.res.destroy();
    else {
      const content = await text(response.stream());
      if (type.startsWith('application/json')) answer.body = JSON.parse(content);
    }
    return answer;
  }

  return {
    ...drainable(app),
    clock,
    testDatabase: ownDatabase,
    dataDir,
    logged,
    call,
    operate: (method, path, payload) =>
      call({ method, url: `/operator${path}`, token: OPERATOR_TOKEN, ...(payload ? { payload } : {}) }),
  };
}

/** The exact error body of the contract. */
export function assertError(
  answer: Answer,
  status: number,
  messageCode: string,
  message?: string | RegExp,
): void {
  assert.equal(answer.status, status, JSON.stringify(answer.body));
  assert.equal(answer.body.message_code, messageCode, JSON.stringify(answer.body));
  assert.match(String(answer.headers['x-request-id']), /^[0-9a-f]{32}$/);
  assert.ok(typeof answer.body.error === 'string' && typeof answer.body.message === 'string');
  if (typeof message === 'string') assert.equal(answer.body.message, message);
  else if (message) assert.match(String(answer.body.message), message);
}
