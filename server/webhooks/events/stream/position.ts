import { isGuid } from '../../../infrastructure/runtime/guid.ts';

/**
 * How far a stream has been read. Guids and times do not tell: an event is visible only after its transaction has
 * committed, and events commit in another order. A PostgreSQL snapshot (`xmin:xmax:xip`) tells exactly.
 */
export type Horizon = {
  snapshot: string;
  /** Events that are not visible in the snapshot were or will be created at this time or later. */
  floorMs: number;
  /** Transaction ids are comparable within one database cluster and timeline only. */
  database: string;
};

/** Everything visible at `from` was sent and, of what is visible at `to`, everything up to the guid `after`. */
export type Position = { from: Horizon; page?: { to: Horizon; after: string } | undefined };

/** No transaction is visible in it. */
const EMPTY_SNAPSHOT = '1:1:';
const SNAPSHOT_PATTERN = /^\d{1,20}:\d{1,20}:(\d{1,20}(,\d{1,20})*)?$/;
/** With more transactions in progress, a position names the oldest only, and some events are repeated after a reconnect. */
const MAX_SNAPSHOT_CHARACTERS = 1_000;
const MAX_POSITION_CHARACTERS = 3_000;
/** The largest time that a position can name: the year 5188. */
const MAX_FLOOR_MS = 36 ** 9 - 1;
const SEPARATOR = '.';
const HORIZON_PARTS = 3;

/** Before every event that was created at this time or later. */
export function positionAt(moment: Date): Position {
  const floorMs = Math.min(Math.max(moment.getTime(), 0), MAX_FLOOR_MS);
  return { from: { snapshot: EMPTY_SNAPSHOT, floorMs, database: '' } };
}

export function formatPosition({ from, page }: Position): string {
  const parts = page ? [...horizonParts(from), ...horizonParts(page.to), page.after] : horizonParts(from);
  return parts.join(SEPARATOR);
}

/** Undefined if the text is not a position. */
export function parsePosition(text: string): Position | undefined {
  if (text.length > MAX_POSITION_CHARACTERS) return undefined;
  const parts = text.split(SEPARATOR);
  const from = parseHorizon(parts.slice(0, HORIZON_PARTS));
  if (!from || parts.length === HORIZON_PARTS) return from && { from };
  const to = parseHorizon(parts.slice(HORIZON_PARTS, 2 * HORIZON_PARTS));
  const [after = '', ...rest] = parts.slice(2 * HORIZON_PARTS);
  return to && isGuid(after) && rest.length === 0 ? { from, page: { to, after } } : undefined;
}

/** The position in another database: everything from its time on is sent again. */
export function withoutSnapshots({ from }: Position): Position {
  return positionAt(new Date(from.floorMs));
}

/** A position of `positionAt` fits every database. */
export function isOfDatabase({ from, page }: Position, database: string): boolean {
  return [from, ...(page ? [page.to] : [])].every((each) => ['', database].includes(each.database));
}

function horizonParts({ snapshot, floorMs, database }: Horizon): string[] {
  const [oldest] = snapshot.split(':');
  const short = snapshot.length > MAX_SNAPSHOT_CHARACTERS ? `${oldest}:${oldest}:` : snapshot;
  return [floorMs.toString(36), database, short];
}

function parseHorizon([floor = '', database = '', snapshot = '']: readonly string[]): Horizon | undefined {
  const floorMs = /^[0-9a-z]{1,9}$/.test(floor) ? Number.parseInt(floor, 36) : Number.NaN;
  const isValid = isSnapshot(snapshot) && /^[0-9a-f]{0,8}$/.test(database) && !Number.isNaN(floorMs);
  return isValid ? { snapshot, floorMs, database } : undefined;
}

/** As PostgreSQL accepts it: the transactions in progress are in order, from `xmin` to below `xmax`. */
function isSnapshot(text: string): boolean {
  if (!SNAPSHOT_PATTERN.test(text)) return false;
  const [xmin = 0n, xmax = 0n, ...inProgress] = text.split(/[:,]/).filter(Boolean).map(BigInt);
  const isInOrder = inProgress.every((id, index) => id >= (inProgress[index - 1] ?? xmin) && id < xmax);
  return xmin >= 1n && xmin <= xmax && xmax < 2n ** 63n && isInOrder;
}
