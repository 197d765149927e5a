import { type ObjectType, PATHS } from '../agenda/paths.ts';
import { timeOf } from '../machine/guids.ts';
import type { ModelObject, StoredEvent } from '../world/model.ts';
import type { World } from '../world/world.ts';
import { type Move, readMoves } from './moves.ts';
import { expiredBefore } from './retention.ts';

/** Invariants 1 and 5 for the objects of the sandbox. */
const GUID = (column: string) => `replace(${column}::text, '-', '')`;
const DELETION = ['deleting', 'deleted'];
/** The specification names no events for a deletion. */
const hasEvent = (state: string) => !DELETION.includes(state);

function isObjectType(type: string): type is ObjectType {
  return type in PATHS;
}

/** States so far are the beginning of the path, and each state change has its event. */
export async function checkObjects(world: World): Promise<void> {
  const { side, model } = world;
  if (model.objects.length === 0) return;
  const moves = await readMoves(side);
  for (const object of model.objects) checkPath(world, object, moves.get(object.guid) ?? []);
  await checkEventsOfMoves(world, moves);
}

/** Each object is where its path ends. Call after a time in which some node was healthy. */
export async function checkEndings({ side, model }: World): Promise<void> {
  if (model.objects.length === 0) return;
  const { rows } = await side.query<{ guid: string; state: string }>(
    "select replace(guid::text, '-', '') as guid, state from objects where state is not null",
  );
  const stateOf = new Map(rows.map(({ guid, state }) => [guid, state]));
  for (const { guid, type, ending, deletion } of model.objects) {
    const state = stateOf.get(guid);
    const isAtEnd =
      deletion === 'answered'
        ? state === 'deleted'
        : state === ending || (deletion === 'called' && state === 'deleted');
    model.check(isAtEnd, () => `the ${type} ${guid} is ${state} instead of ${ending}; deletion: ${deletion}`);
  }
}

function checkPath(
  { model }: World,
  { guid, type, ending, deletion }: ModelObject,
  moves: readonly Move[],
): void {
  const states = moves.map(({ to }) => to);
  const path = (PATHS[type] as Record<string, readonly string[]>)[ending] ?? [];
  const kept = deletion === 'none' ? states : states.filter(hasEvent);
  const deleted = states.slice(kept.length);
  model.check(
    kept.length > 0 &&
      kept.every((state, index) => state === path[index]) &&
      deleted.every((state, index) => state === DELETION[index]) &&
      moves.every(({ from }, index) => from === (states[index - 1] ?? null)),
    () => `the ${type} ${guid} moved through ${states.join(', ')} instead of ${path.join(', ')}`,
  );
}

/** Also those of objects whose creation was not answered. */
async function checkEventsOfMoves(world: World, moves: ReadonlyMap<string, readonly Move[]>): Promise<void> {
  const { side, model, scheduler } = world;
  const expired = expiredBefore(world);
  const { rows } = await side.query<StoredEvent>(`
    select ${GUID('guid')} as guid, ${GUID('organization_guid')} as organization_guid,
           ${GUID('bank_guid')} as bank_guid, event_type, ${GUID('object_guid')} as object_guid, environment
    from events where object_guid in (select guid from simulation_moves)`);
  for (const row of rows) model.adopt(row, scheduler.now());
  model.look(scheduler.now());
  const found = Map.groupBy(rows, ({ object_guid: object, event_type: type }) => `${object} ${type}`);
  for (const [guid, own] of moves) {
    if (timeOf(guid) < expired) continue;
    const expected = own.filter(({ type, to }) => isObjectType(type) && hasEvent(to));
    for (const [type, same] of Map.groupBy(expected, (move) => `${move.type}.${move.to}`)) {
      const count = found.get(`${guid} ${type}`)?.length ?? 0;
      model.check(
        count === same.length,
        () => `${guid} became ${type} ${same.length} times and has ${count} events of it`,
      );
    }
  }
}
