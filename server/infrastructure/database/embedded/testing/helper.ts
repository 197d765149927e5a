import { lockDataDir } from '../data-dir/data-dir.ts';
import { startEmbeddedPostgres } from '../embedded-postgres.ts';

/**
 * A process for tests to kill: `helper.ts lock <dataDir>` or `helper.ts start <dataDir>`. Prints the result in one line
 * and stays until it is ended; SIGTERM shuts it down cleanly.
 */
const [action, dataDir = ''] = process.argv.slice(2);
const keepAlive = setInterval(() => undefined, 60_000);

try {
  const { result, stop } = action === 'lock' ? await lock() : await start();
  process.once('SIGTERM', async () => {
    await stop();
    clearInterval(keepAlive);
  });
  process.stdout.write(`${result}\n`);
} catch (error) {
  process.stdout.write(`${(error as Error).name}: ${(error as Error).message}\n`);
  clearInterval(keepAlive);
}

type Started = { result: string; stop(): Promise<void> };

async function lock(): Promise<Started> {
  const { release } = await lockDataDir(dataDir);
  return { result: 'locked', stop: release };
}

async function start(): Promise<Started> {
  const { ownerUrl, stop } = await startEmbeddedPostgres({ dataDir, settings: { fsync: 'off' } });
  return { result: ownerUrl, stop };
}
