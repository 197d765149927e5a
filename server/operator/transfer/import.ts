import type { Transaction } from '../../infrastructure/database/database.ts';
import type { Partitions } from '../../infrastructure/database/partitions/partitions.ts';
import type { Encryption } from '../../infrastructure/runtime/encryption.ts';
import { Failure, isFailure } from '../../infrastructure/runtime/failure.ts';
import { type Guids, isGuid, timeOfGuid } from '../../infrastructure/runtime/guid.ts';
import { pathOf } from '../../webhooks/inboxes/service.ts';
import type { createImportedContent } from './content.ts';
import { type Frame, type Head, type Header, InvalidFrame } from './frames.ts';
import { createImportedPeople } from './people.ts';
import { columnsOf, insertRows, schemaOf } from './rows-store.ts';
import { ENCRYPTED, type JsonRow, plain, protectSecrets } from './secrets.ts';
import { TRANSFERRED } from './tables-store.ts';

export type Imported = { organization_guid: string; rows: Record<string, number>; files: number };

type Deps = {
  encryption: Encryption;
  partitions: Partitions;
  content: ReturnType<typeof createImportedContent>;
  baseUrl: string;
  guids: Guids;
};
type RowsHead = Extract<Head, { kind: 'rows' }>;

const NAMES: ReadonlySet<string> = new Set(TRANSFERRED.map(({ name }) => name));
/** Tables whose rows change on import. */
const CHANGED: ReadonlySet<string> = new Set([
  ...Object.keys(ENCRYPTED),
  ...['applications', 'memberships', 'organizations', 'subscriptions'],
]);

/** Inserts everything in one transaction, so that a failure leaves nothing. */
export async function importFrames(
  transaction: Transaction,
  { encryption, partitions, content, baseUrl, guids }: Deps,
  frames: AsyncIterator<Frame>,
): Promise<Imported | Failure> {
  const header = await readHeader(frames);
  const schema = await schemaOf(transaction);
  if (schema.join() !== header.schema.join())
    return new Failure(
      'state_conflict',
      `Both installations must have the same migrations; the last of the export is ${header.schema.at(-1)}, the last here ${schema.at(-1)}`,
    );
  const people = createImportedPeople();
  const columns = new Map<string, string[]>();
  const covered = new Map<string, { from: string; to: string }>();
  const counts: Record<string, number> = {};
  const inboxUrl = (url: string) => `${url}${pathOf('')}`;

  function adapted(table: string, row: JsonRow): JsonRow {
    const own = protectSecrets(encryption, table, row);
    // An earlier removal from this installation may have revoked the grants.
    const granted = { ...own, grant_guid: guids.next() };
    if (table === 'organizations')
      return { ...granted, frozen_at: null, freezing_at: null, removing_at: null };
    if (table === 'memberships') return granted;
    if (table !== 'subscriptions') return own;
    const url = String(row.url);
    const isInbox = url.startsWith(inboxUrl(header.baseUrl));
    return {
      ...own,
      frozen: false,
      ...(isInbox && { url: inboxUrl(baseUrl) + url.slice(inboxUrl(header.baseUrl).length) }),
    };
  }

  /** Keys of one table compare as text. */
  async function cover(table: string, from: string, to: string): Promise<void> {
    const known = covered.get(table);
    if (known && known.from <= from && known.to >= to) return;
    const wider = {
      from: known && known.from < from ? known.from : from,
      to: known && known.to > to ? known.to : to,
    };
    await partitions.cover(table, timeOf(wider.from), timeOf(wider.to));
    covered.set(table, wider);
  }

  async function insert({ table, count, from, to }: RowsHead, payload: Buffer): Promise<void> {
    if (!NAMES.has(table)) throw new InvalidFrame(`the table ${table} is not expected`);
    if (from !== undefined && to !== undefined) await cover(table, from, to);
    let json = payload.toString('utf8');
    if (CHANGED.has(table) || people.concerns(table)) {
      const rows = (JSON.parse(json) as JsonRow[]).map((row) => adapted(table, row));
      json = JSON.stringify(await people.resolve(transaction, table, rows));
    }
    const names = columns.get(table) ?? (await columnsOf(transaction, table));
    columns.set(table, names);
    await insertRows(transaction, table, names, json);
    counts[table] = (counts[table] ?? 0) + count;
  }

  for (;;) {
    const { value, done } = await frames.next();
    if (done) throw new InvalidFrame('the export has no end');
    const { head, payload } = value;
    if (head.kind === 'end') break;
    if (head.kind === 'rows') await insert(head, payload);
    else if (head.kind === 'file') {
      const refused = await content.store(head, frames);
      if (refused) return refused;
    } else throw new InvalidFrame(`a frame ${head.kind} is not expected`);
  }
  const files = await content.keep(transaction, header.organizationGuid);
  if (isFailure(files)) return files;
  return { organization_guid: header.organizationGuid, rows: counts, files };
}

async function readHeader(frames: AsyncIterator<Frame>): Promise<Header> {
  const { value, done } = await frames.next();
  if (done || value.head.kind !== 'header') throw new InvalidFrame('the export has no header');
  return value.head.header;
}

/** A partition key is a guid or a time. */
function timeOf(key: string): Date {
  return isGuid(plain(key)) ? timeOfGuid(plain(key)) : new Date(key);
}
