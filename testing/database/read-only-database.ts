import { after } from 'node:test';
import pg from 'pg';
import type { TestDatabase } from './database.ts';

/**
 * Makes the sessions that begin from now on read-only, as on a standby. Those of before keep what they have, as a
 * session of a former primary does.
 */
export async function createReadOnlySwitch({ ownerUrl }: TestDatabase) {
  const url = ownerUrl.reveal();
  const client = new pg.Client({ connectionString: url });
  // The database may be dropped first.
  client.on('error', () => undefined);
  await client.connect();
  after(() => client.end());
  const name = pg.escapeIdentifier(new URL(url).pathname.slice(1));
  return {
    setReadOnly: () => client.query(`alter database ${name} set default_transaction_read_only = on`),
    setWritable: () => client.query(`alter database ${name} reset default_transaction_read_only`),
  };
}
