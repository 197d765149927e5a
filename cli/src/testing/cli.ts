import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { after } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { TestApp } from '../../../testing/app/app.ts';
import type { Tenant } from '../../../testing/app/tenant.ts';
import { run } from '../main.ts';

type Options = {
  /** Typed or piped. */
  input?: string;
  isTerminal?: boolean;
  /** Of the terminal. */
  columns?: number;
  env?: Record<string, string>;
  signal?: AbortSignal;
  onOutput?: (text: string) => void;
};
export type Result = { code: number; out: string; err: string };

/** Runs a command in this process. */
export async function runCli(args: readonly string[], options: Options = {}): Promise<Result> {
  const { input, isTerminal = false, columns = 80, env = {}, onOutput } = options;
  const result = { code: -1, out: '', err: '' };
  const stdin = Object.assign(new PassThrough(), { isTTY: isTerminal, setRawMode: () => undefined });
  const output = (name: 'out' | 'err') => ({
    ...{ isTTY: isTerminal, columns },
    write(text: string) {
      result[name] += text;
      onOutput?.(text);
    },
  });
  const finished = run(args, {
    ...{ stdin, stdout: output('out'), stderr: output('err'), env, now: Date.now },
    signal: options.signal ?? new AbortController().signal,
  });
  if (input !== undefined) stdin.end(input);
  result.code = await finished;
  return result;
}

const PUMP_EVERY_MS = 10;

/** Runs commands in this process against a service whose time the test moves. */
export async function createCli(app: TestApp) {
  await app.server.listen({ port: 0, host: '127.0.0.1' });
  const url = `http://127.0.0.1:${(app.server.server.address() as AddressInfo).port}`;
  const configDir = await mkdtemp(join(tmpdir(), 'portico-cli-'));
  after(() => rm(configDir, { recursive: true, force: true }));

  const cli = (args: readonly string[], options: Options = {}) =>
    pumped(runCli(args, { ...options, env: { PORTICO_CLI_CONFIG_DIR: configDir, ...options.env } }));

  /** Time of the service passes, with its background work, until the promise is settled. */
  async function pumped<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false;
    void promise
      .catch(() => undefined)
      .finally(() => {
        isSettled = true;
      });
    while (!isSettled) {
      app.clock.advance(250);
      for (const part of [app.simulator, app.fileProcessing, app.dispatcher]) await part.drain();
      await delay(PUMP_EVERY_MS);
    }
    return promise;
  }

  return {
    ...{ cli, pumped, url, configDir },
    /** The environment variables of a key pair. */
    as: ({ clientId, secret }: Tenant['organizationKey']) => ({
      PORTICO_CLI_URL: url,
      PORTICO_CLI_CLIENT_ID: clientId,
      PORTICO_CLI_CLIENT_SECRET: secret,
    }),
  };
}
