import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { findFreePort } from '../../server/infrastructure/database/embedded/embedded-postgres.ts';
import { untilEnded } from './children.ts';

const MAIN = fileURLToPath(new URL('../../server/main.ts', import.meta.url));
const START_WITHIN_MS = 60_000;
const READY_POLL_MS = 50;

export type Role = 'serve' | 'api' | 'dispatch';
export type NodeProcess = Awaited<ReturnType<typeof spawnNode>>;
type Settings = Readonly<Record<string, string>>;

/** A process of the service on ports of its own, which is not ready yet. */
export async function spawnNode(role: Role, settings: Settings) {
  const [port, operatorPort] = [await findFreePort(), await findFreePort()];
  const ports: Settings =
    role === 'dispatch'
      ? { PORTICO_METRICS_PORT: String(operatorPort) }
      : { PORTICO_PORT: String(port), PORTICO_OPERATOR_PORT: String(operatorPort) };
  const operatorUrl = `http://127.0.0.1:${operatorPort}`;
  const start = () => spawnService([role], { ...settings, ...ports });
  let child = start();

  const untilReady = async () => {
    for (const giveUpAt = Date.now() + START_WITHIN_MS; Date.now() < giveUpAt; await delay(READY_POLL_MS)) {
      if (child.exitCode !== null) break;
      const answer = await fetch(`${operatorUrl}/readyz`).catch(() => undefined);
      if (answer?.status === 200) return;
    }
    throw new Error(`portico ${role} did not start`);
  };
  const stop = async () => {
    child.kill('SIGTERM');
    await untilEnded(child);
  };

  return {
    role,
    url: `http://127.0.0.1:${port}`,
    operatorUrl,
    untilReady,
    stop,
    async restart(): Promise<void> {
      await stop();
      child = start();
      await untilReady();
    },
    /** A counter or gauge of this process, with its labels as in the response. */
    async metric(name: string): Promise<number> {
      const text = await (await fetch(`${operatorUrl}/metrics`)).text();
      const line = text.split('\n').find((candidate) => candidate.startsWith(`${name} `));
      return Number(line?.split(' ').at(-1) ?? 0);
    },
  };
}

export async function migrate(settings: Settings): Promise<void> {
  const child = spawnService(['migrate'], settings);
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error('portico migrate failed');
}

function spawnService(args: readonly string[], settings: Settings): ChildProcess {
  return spawn(process.execPath, [MAIN, ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ...settings },
  });
}
