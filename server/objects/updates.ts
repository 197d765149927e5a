import { isDeepStrictEqual } from 'node:util';
import type { Actor } from '../infrastructure/audit/service.ts';
import type { Base } from '../infrastructure/base.ts';
import { Failure, isFailure, type Precondition } from '../infrastructure/runtime/failure.ts';
import type { Events } from '../webhooks/events/service.ts';
import { canTransition, type Details, firstStateOf, pathTo, refuseTransition } from './machine.ts';
import { changeOf, eventsOf } from './records.ts';
import { type ObjectUpdate, storedDetails } from './schema.ts';
import type { Simulator } from './simulator.ts';
import * as store from './store.ts';
import { type ObjectType, wordsOf } from './types.ts';

type Deps = Pick<Base, 'database' | 'clock' | 'audit'> & { events: Events; simulator: Simulator };
type Change = (object: store.ObjectRow, now: Date) => store.ObjectRow | Failure;
type ObjectPrecondition = Precondition<store.ObjectRow> | undefined;
type ChangeRequest = { action: 'update' | 'delete'; precondition?: ObjectPrecondition; apply: Change };
type UpdateRequest = { guid: string; update: ObjectUpdate; precondition?: ObjectPrecondition };
type Planned = Pick<store.ObjectRow, 'state' | 'ending' | 'next_move_at'>;

/** Changes and deletions of sandbox objects by partners. */
export function createUpdates({ database, clock, audit, events, simulator }: Deps) {
  /** Applies a change to the locked object; one that changes nothing has no record, no event and no new `updated_at`. */
  async function change(
    actor: Actor,
    visible: store.Visible,
    type: ObjectType,
    guid: string,
    { action, precondition, apply }: ChangeRequest,
  ): Promise<store.ObjectRow | Failure> {
    const changed = await database.transaction(async (transaction) => {
      const before = await store.lockVisible(transaction, visible, type.name, guid);
      if (!before) return new Failure('not_found', `There is no such ${wordsOf(type.name)}`);
      if (before.environment === 'production')
        return new Failure(
          'not_implemented',
          `${type.plural} can be changed in sandbox only; the platform changes those in production`,
        );
      const refusal = precondition?.(before);
      if (refusal) return refusal;
      const now = clock.now();
      const after = apply(before, now);
      if (isFailure(after) || isDeepStrictEqual(after, before)) return after;
      const object = { ...after, updated_at: now };
      await store.updateObject(transaction, object);
      await audit.record(transaction, actor, changeOf(type, action, object, changedFields(before, object)));
      await events.publish(transaction, eventsOf(type, before.state, object));
      return object;
    });
    if (!isFailure(changed) && changed.next_move_at) simulator.expect(changed.next_move_at);
    return changed;
  }

  /**
   * Back to the first state, from which the simulator starts again. An object in the first state stays as it is, unless
   * `simulate` names another ending.
   */
  function restart(
    type: ObjectType,
    { state: from, ending }: store.ObjectRow,
    simulate: string | undefined,
    now: Date,
  ): Partial<Planned> | Failure {
    const { name, machine } = type;
    const state = machine && firstStateOf(machine);
    const isFirst = state === from;
    if (isFirst && (simulate === undefined || simulate === ending)) return {};
    if (!machine || state === undefined || !(isFirst || canTransition(machine, String(from), state)))
      return new Failure('state_conflict', `The ${wordsOf(name)} is ${from}, and cannot be refreshed`);
    return { state, ...simulator.plan(type, state, pathTo(machine, simulate).at(-1), now) };
  }

  return {
    update: (
      actor: Actor,
      visible: store.Visible,
      type: ObjectType,
      { guid, update: { labels, state, simulate, ...fields }, precondition }: UpdateRequest,
    ) =>
      change(actor, visible, type, guid, {
        action: 'update',
        precondition,
        apply(object, now) {
          const merged = withoutNulls({ ...object.details, ...fields });
          const refusal = type.refuse?.(merged, []);
          if (refusal) return refusal;
          const restarted = state === undefined ? {} : restart(type, object, simulate, now);
          if (isFailure(restarted)) return restarted;
          const details = storedDetails(type, merged);
          return { ...object, details, labels: labels ?? object.labels, ...restarted };
        },
      }),

    /**
     * Starts the deletion; a repeated request changes nothing, unless a node of an older version, which does not know the
     * path to `deleted`, has ended the simulation.
     */
    remove: (actor: Actor, visible: store.Visible, type: ObjectType, guid: string) =>
      change(actor, visible, type, guid, {
        action: 'delete',
        apply(object, now) {
          const { machine, name } = type;
          const [deleting, deleted] = machine?.deletion ?? [];
          const isDeleting = object.state === deleting;
          if (object.state === deleted || (isDeleting && object.next_move_at)) return object;
          if (
            !machine ||
            !deleting ||
            !(isDeleting || canTransition(machine, String(object.state), deleting))
          )
            return refuseTransition(wordsOf(name), String(object.state), String(deleting));
          return { ...object, state: deleting, ...simulator.plan(type, deleting, deleted, now) };
        },
      }),
  };
}

function withoutNulls(details: Details): Details {
  return Object.fromEntries(Object.entries(details).filter(([, value]) => value !== null));
}

/** A transition has another ending too; alone, it is a change of `simulate`. */
function changedFields(before: store.ObjectRow, after: store.ObjectRow): string[] {
  const fieldsOf = ({ state, labels, details, ending }: store.ObjectRow): Record<string, unknown> => ({
    ...{ ...details, state, labels },
    ...(before.state === after.state && { simulate: ending }),
  });
  const [old, now] = [fieldsOf(before), fieldsOf(after)];
  const names = new Set([...Object.keys(old), ...Object.keys(now)]);
  return [...names].filter((name) => !isDeepStrictEqual(old[name], now[name])).sort();
}
