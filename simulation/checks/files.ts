import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ModelFile } from '../world/model.ts';
import { contentsIn, temporaryIn } from '../world/storage.ts';
import type { World } from '../world/world.ts';
import { readMoves } from './moves.ts';

/** Invariants 5 and 7 for files. */
const HOUR_MS = 3_600_000;
/** Content without a record is found by a daily pass once it is a day old; tasks run every 24 hours at least. */
const CLEANED_AFTER_MS = 75 * HOUR_MS;
/** The longest upload and the time until its link expires, with the tasks. */
const FINISHED_AFTER_MS = 3 * HOUR_MS;

type Row = {
  guid: string;
  state: string;
  failure_code: string | null;
  sha256: string | null;
  size: number | null;
};

/** Each completed file has the content that was sent, and states move from storing to a final one. */
export async function checkFiles(world: World): Promise<void> {
  const { side, model, disk } = world;
  if (model.files.length === 0) return;
  const rows = await readFiles(world);
  const contents = new Map(contentsIn(disk.folder).map(({ guid, path }) => [guid, path]));
  const moves = await readMoves(side);
  for (const [guid, own] of moves) {
    if (own[0]?.type !== 'file') continue;
    const path = own.map(({ to }) => to).join(' → ');
    model.check(
      /^storing( → (completed|failed))?$/.test(path),
      () => `the file ${guid} moved through ${path}`,
    );
  }
  for (const file of model.files) {
    const row = rows.get(file.guid);
    model.check(
      row !== undefined ? file.deletion !== 'answered' : file.deletion !== 'none',
      () => `the record of the file ${file.guid} ${row ? 'exists after' : 'is gone before'} its deletion`,
    );
    if (row?.state === 'completed') checkCompleted(world, file, row, contents.get(file.guid));
    if (row?.state === 'failed') checkFailure(world, file, row);
  }
}

function checkCompleted(
  { model }: World,
  { guid, plan, sent }: ModelFile,
  row: Row,
  path: string | undefined,
): void {
  model.check(plan !== 'mistyped' && plan !== 'unused', () => `the file ${guid} (${plan}) is completed`);
  model.check(path !== undefined, () => `the completed file ${guid} has no content`);
  if (path === undefined) return;
  const content = readFileSync(path);
  const hash = createHash('sha256').update(content).digest('hex');
  model.check(
    hash === row.sha256 && content.length === row.size,
    () => `the content of the file ${guid} is not the one of its record`,
  );
  const accepted = [...sent].filter(([, isAccepted]) => isAccepted).map(([each]) => each);
  model.check(accepted.length <= 1, () => `two uploads of the file ${guid} were accepted`);
  model.check(
    accepted.length === 0 ? sent.has(hash) : accepted[0] === hash,
    () => `the content of the file ${guid} is not the one that was accepted`,
  );
}

function checkFailure({ model }: World, { guid, plan, sent }: ModelFile, row: Row): void {
  const isAccepted = [...sent.values()].some(Boolean);
  const expected = plan === 'mistyped' ? 'content_type_mismatch' : 'upload_expired';
  model.check(
    row.failure_code === expected && (plan === 'mistyped' || !isAccepted),
    () => `the file ${guid} (${plan}, ${isAccepted ? '' : 'not '}accepted) has failed: ${row.failure_code}`,
  );
}

/** After the clean-up had its time: no content without a record, nothing half done. */
export async function checkLeftovers(world: World): Promise<void> {
  const { side, model, disk, scheduler } = world;
  if (model.files.length === 0) return;
  const now = scheduler.now();
  const rows = await readFiles(world);
  const { rows: planned } = await side.query<{ guid: string }>(
    "select replace(guid::text, '-', '') as guid from file_deletions",
  );
  const deletions = new Set(planned.map(({ guid }) => guid));
  for (const { guid } of contentsIn(disk.folder)) {
    const row = rows.get(guid);
    model.check(
      (row !== undefined && row.state !== 'failed') ||
        deletions.has(guid) ||
        now - disk.storedAt(guid) < CLEANED_AFTER_MS,
      () => `content of ${guid} is left without a record, or of a ${row?.state ?? 'deleted'} file`,
    );
  }
  for (const { name, createdAt } of temporaryIn(disk.folder))
    model.check(now - createdAt < CLEANED_AFTER_MS, () => `the unfinished upload ${name} is left`);
  for (const { guid, createdAt } of model.files)
    model.check(
      rows.get(guid)?.state !== 'storing' || now - createdAt < FINISHED_AFTER_MS,
      () => `the file ${guid} is still storing`,
    );
}

async function readFiles({ side }: World): Promise<ReadonlyMap<string, Row>> {
  const { rows } = await side.query<Row>(`
    select replace(guid::text, '-', '') as guid, failure_code, sha256, size::int,
           case when completed_at is not null then 'completed' when failed_at is not null then 'failed'
             else 'storing' end as state
    from files`);
  return new Map(rows.map((row) => [row.guid, row]));
}
