import { type Actor, systemActor } from '../../infrastructure/audit/service.ts';
import { Failure, isFailure } from '../../infrastructure/runtime/failure.ts';
import {
  type Attempt,
  createFreezeSteps,
  type FreezingDeps,
  isOf,
  unfrozenMeanwhile,
} from './freeze-steps.ts';
import * as store from './freeze-store.ts';
import { createQuiet, isTrueInTime, QUIET_WITHIN_MS } from './quiet.ts';

/**
 * Freezes an Organization: every node refuses its calls, no dispatcher sends its deliveries, the simulator leaves its
 * objects. Sending stops first, while calls are still accepted, because requests in flight may take seconds.
 */
export function createFreezing(deps: FreezingDeps) {
  const { database, clock, log } = deps;
  const { queries } = database;
  const { isQuiet } = createQuiet(deps);
  const steps = createFreezeSteps(deps);

  /** Undefined when something of the Organization did not end in time. */
  async function tryToFreeze(
    actor: Actor,
    guid: string,
    attempt: Attempt,
  ): Promise<store.Organization | Failure | undefined> {
    const refused = await steps.stopSending(guid, attempt);
    if (refused) return refused;
    if (!(await isQuiet(guid))) return undefined;
    const frozen = await steps.setFrozen(actor, guid, attempt);
    if (isFailure(frozen)) return frozen;
    if (!(await isQuiet(guid))) return undefined;
    return (await store.endFreezing(queries, guid)) ?? unfrozenMeanwhile();
  }

  /** A repeated freeze does not unfreeze: the Organization may be active in another installation by now. */
  async function undo(actor: Actor, guid: string, attempt: Attempt): Promise<void> {
    if (!attempt.wasFrozen) await steps.unfreeze(actor, guid, (current) => isOf(attempt, current));
  }

  return {
    /** Safe to repeat. Nothing of the Organization changes after it has returned. */
    async freeze(actor: Actor, guid: string): Promise<store.Organization | Failure> {
      const attempt: Attempt = { startedAt: clock.now(), wasFrozen: true };
      try {
        const frozen = await tryToFreeze(actor, guid, attempt);
        if (frozen === undefined) {
          await undo(actor, guid, attempt);
          return busy(attempt);
        }
        const ms = clock.now().getTime() - attempt.startedAt.getTime();
        if (!isFailure(frozen)) log.info({ organization_guid: guid, ms }, 'froze an Organization');
        return frozen;
      } catch (error) {
        // The database may be back soon. If not, `resumeInterrupted` does it.
        const isUndone = () =>
          undo(actor, guid, attempt).then(
            () => true,
            () => false,
          );
        await isTrueInTime(clock, isUndone);
        throw error;
      }
    },

    async unfreeze(actor: Actor, guid: string): Promise<store.Organization | Failure> {
      const unfrozen = await steps.unfreeze(actor, guid, () => true);
      if (!isFailure(unfrozen)) log.info({ organization_guid: guid }, 'unfroze an Organization');
      return unfrozen;
    },

    /** A process that ends during a freeze leaves an active Organization whose deliveries are not sent. */
    async resumeInterrupted(): Promise<void> {
      const before = steps.interruptedBefore();
      for (const guid of await store.selectInterrupted(queries, before)) {
        let isInterrupted = false;
        try {
          const resumed = await steps.unfreeze(
            systemActor,
            guid,
            ({ frozen_at: frozenAt, freezing_at: at }) => {
              isInterrupted = frozenAt === null && at !== null && at <= before;
              return isInterrupted;
            },
          );
          if (isInterrupted && !isFailure(resumed))
            log.warn({ organization_guid: guid }, 'resumed deliveries after an interrupted freeze');
        } catch (error) {
          // The next Organizations must not wait for this one.
          log.warn(
            { err: error, organization_guid: guid },
            'could not resume deliveries after an interrupted freeze',
          );
        }
      }
    },
  };
}

function busy({ wasFrozen }: Attempt): Failure {
  const outcome = wasFrozen ? 'it stays frozen' : 'it was not frozen';
  return new Failure(
    'state_conflict',
    `Deliveries or transactions of the Organization did not end within ${QUIET_WITHIN_MS / 1000} seconds, and ${outcome}; try again`,
  );
}
