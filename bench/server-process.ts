import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEmbeddedPostgres } from '../server/infrastructure/database/embedded/embedded-postgres.ts';
import type { Fixtures } from './server.ts';

/** The service and the bare reference in a child process, on a real database with fsync on. */
export async function withServer<T>(work: (fixtures: Fixtures, ownerUrl: string) => Promise<T>): Promise<T> {
  const dataDir = mkdtempSync(join(tmpdir(), 'portico-bench-'));
  const postgres = await startEmbeddedPostgres({ dataDir });
  const child = fork(fileURLToPath(new URL('./server.ts', import.meta.url)), [], {
    env: { ...process.env, BENCH_DATABASE_URL: postgres.ownerUrl },
  });
  try {
    const [fixtures] = (await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(() => Promise.reject(new Error('the benchmark server did not start'))),
    ])) as [Fixtures];
    return await work(fixtures, postgres.ownerUrl);
  } finally {
    if (child.exitCode === null) {
      child.send('stop');
      await once(child, 'exit');
    }
    await postgres.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}
