import type { Transaction } from '../../infrastructure/database/database.ts';
import { selectPeople } from './people-store.ts';
import { type JsonRow, plain } from './secrets.ts';

/** Tables with the login of a person, which belongs to the installation. */
const LOGIN_TABLES: ReadonlySet<string> = new Set(['logins', 'passkeys', 'login_networks']);

/**
 * An address names one person in an installation. A person who is already here keeps their account and login, and the
 * imported rows name their guid; a new person is imported with their login.
 */
export function createImportedPeople() {
  const newPeople = new Set<string>();
  const replaced = new Map<string, string>();

  async function keepNew(transaction: Transaction, rows: readonly JsonRow[]): Promise<JsonRow[]> {
    const guids = rows.map(({ guid }) => plain(String(guid)));
    const found = await selectPeople(
      transaction,
      guids,
      rows.map(({ email }) => String(email)),
    );
    const knownGuids = new Set(found.map(({ guid }) => guid));
    const byEmail = new Map(found.map(({ guid, email }) => [email, guid]));
    return rows.filter((row) => {
      const guid = plain(String(row.guid));
      if (knownGuids.has(guid)) return false;
      const existing = byEmail.get(String(row.email));
      if (existing === undefined) newPeople.add(guid);
      else replaced.set(guid, existing);
      return existing === undefined;
    });
  }

  function withExisting(row: JsonRow): JsonRow {
    return Object.fromEntries(
      Object.entries(row).map(([column, value]) => [
        column,
        typeof value === 'string' ? (replaced.get(plain(value)) ?? value) : value,
      ]),
    );
  }

  return {
    /** Whether the rows have to be read: history is inserted as it is unless a person got another guid. */
    concerns: (table: string) => table === 'members' || LOGIN_TABLES.has(table) || replaced.size > 0,

    async resolve(transaction: Transaction, table: string, rows: readonly JsonRow[]): Promise<JsonRow[]> {
      if (table === 'members') return keepNew(transaction, rows);
      if (LOGIN_TABLES.has(table))
        return rows.filter(({ member_guid }) => newPeople.has(plain(String(member_guid))));
      return rows.map(withExisting);
    },
  };
}
