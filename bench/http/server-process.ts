import { ask, startScript } from '../shared/children.ts';
import { startPostgres } from '../shared/postgres.ts';
import type { Fixtures, ServerOptions } from './server.ts';

/** The service and the bare reference in a child process, on a real database with fsync on. */
export async function startHttpServer(
  resources: AsyncDisposableStack,
  { clients, settings = {} }: Partial<Omit<ServerOptions, 'databaseUrl'>> & { clients: number },
): Promise<Fixtures & { databaseUrl: string }> {
  const { ownerUrl: databaseUrl } = await startPostgres(resources);
  const { child } = await startScript(resources, 'http/server.ts');
  const fixtures = await ask<Fixtures>(child, { databaseUrl, clients, settings } satisfies ServerOptions);
  return { ...fixtures, databaseUrl };
}
