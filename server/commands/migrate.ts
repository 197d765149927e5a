import type { App } from '../app.ts';
import type { Config } from '../config/config.ts';
import { migrate as applyMigrations, schemaState } from '../database/migrate.ts';
import { StartupError } from '../runtime/startup-error.ts';
import { openApp, preparePartitions } from './resources.ts';

export async function migrate(config: Config): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const { app } = await openApp(config, resources);
  const applied = await bringUpToDate(app);
  const lines =
    applied.length === 0 ? ['The database is up to date.'] : applied.map((name) => `applied ${name}`);
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** A database that a newer version migrated is left as it is; this version can work on it. */
export async function bringUpToDate(app: App): Promise<string[]> {
  const applied = await applyMissing(app);
  await preparePartitions(app);
  return applied;
}

async function applyMissing(app: App): Promise<string[]> {
  const { queries } = app.database;
  if ((await schemaState(queries)) !== 'behind') return [];
  try {
    return await applyMigrations(app.database);
  } catch (error) {
    throw new StartupError(
      `The database could not be brought to this version (${(error as Error).message}).`,
    );
  }
}
