import { lockDataDir } from '../data-dir/data-dir.ts';
import { startEmbeddedPostgres } from '../embedded-postgres.ts';

/**
 * A process for tests to kill: `helper.ts lock <dataDir>` or `helper.ts start <dataDir>`. Prints the result in one line
 * and stays until it is ended; SIGTERM shuts it down cleanly.
 */
const [action, dataDir = ''] = process.argv.slice(2);
const keepAlive = setInterval(() => undefined, 60_000);

try {
  const stop = action === 'lock' ? await lock() : await start();
  process.once('SIGTERM', async () => {
    await stop();
    clearInterval(keepAlive);
  });
} catch (error) {
  process.stdout.write(`${(error as Error).name}: ${(error as Error).message}\n`);
  clearInterval(keepAlive);
}

async function lock(): Promise<() => Promise<void>> {
  const held = await lockDataDir(dataDir);
  process.stdout.write('locked\n');
  return held.release;
}

async function start(): Promise<() => Promise<void>> {
  const server = await startEmbeddedPostgres({ dataDir, settings: { fsync: 'off' } });
  process.stdout.write(`${server.ownerUrl}\n`);
  return server.stop;
}
