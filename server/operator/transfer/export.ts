import type { Storage } from '../../files/storage/storage.ts';
import type { Transaction } from '../../infrastructure/database/database.ts';
import type { Encryption } from '../../infrastructure/runtime/encryption.ts';
import { readContents } from './content.ts';
import { frameOf } from './frames.ts';
import { readRows, schemaOf } from './rows-store.ts';
import { ENCRYPTED, type JsonRow, revealSecrets } from './secrets.ts';
import { TRANSFERRED } from './tables-store.ts';

type Deps = { encryption: Encryption; storage: Storage; baseUrl: string };

/** Everything of the Organization, in the snapshot of the transaction. */
export async function* exportFrames(
  transaction: Transaction,
  { encryption, storage, baseUrl }: Deps,
  organizationGuid: string,
): AsyncGenerator<Buffer, void> {
  const header = { organizationGuid, schema: await schemaOf(transaction), baseUrl };
  yield frameOf({ kind: 'header', header });
  for (const table of TRANSFERRED) {
    const hasSecrets = table.name in ENCRYPTED || table.name === 'applications';
    const reveal = (row: string) =>
      JSON.stringify(revealSecrets(encryption, table.name, JSON.parse(row) as JsonRow));
    for await (const { rows, ...bounds } of readRows(transaction, table, organizationGuid)) {
      const payload = `[${(hasSecrets ? rows.map(reveal) : rows).join(',')}]`;
      yield frameOf({ kind: 'rows', table: table.name, count: rows.length, ...bounds }, payload);
    }
  }
  yield* readContents(transaction, storage, organizationGuid);
  yield frameOf({ kind: 'end' });
}
