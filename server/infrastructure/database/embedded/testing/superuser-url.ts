import { readOrCreatePassword } from '../cluster/cluster-password.ts';
import type { EmbeddedPostgres } from '../embedded-postgres.ts';
import { databaseUrl } from '../server/readiness.ts';

/** For tests that create databases or change roles; the service itself has no use for it. */
export async function superuserUrlOf(dataDir: string, { ownerUrl }: EmbeddedPostgres): Promise<string> {
  const password = await readOrCreatePassword(dataDir, true);
  return databaseUrl({ port: Number(new URL(ownerUrl).port), password });
}
