import type pg from 'pg';
import type { Model } from '../world/model.ts';

/**
 * Invariant 5: a delivery that has ended and a subscription that has failed, is deleted or will be deleted stay so.
 * Triggers record changes, because two of them between two looks at the tables would hide each other.
 */
export async function recordReopened(side: pg.Client): Promise<void> {
  await side.query(`
    create table simulation_reopened (guid uuid not null, what text not null);
    create function simulation_reopened() returns trigger security definer language plpgsql as $$ begin
      insert into simulation_reopened (guid, what) values (new.guid, tg_argv[0]);
      return null;
    end $$;
    create trigger simulation_reopened after update on deliveries for each row
      when ((old.completed_at is not null or old.failed_at is not null)
        and (new.completed_at, new.failed_at) is distinct from (old.completed_at, old.failed_at))
      execute function simulation_reopened('delivery');
    create trigger simulation_reopened after update on subscriptions for each row
      when ((old.failed_at is not null and new.failed_at is distinct from old.failed_at)
        or (old.scheduled_deletion_at is not null and new.scheduled_deletion_at is distinct from old.scheduled_deletion_at)
        or (old.deleted_at is not null and new.deleted_at is distinct from old.deleted_at))
      execute function simulation_reopened('subscription')`);
}

export async function checkFinalStates({ side, model }: { side: pg.Client; model: Model }): Promise<void> {
  const { rows } = await side.query<{ what: string; guid: string }>(
    "select what, replace(guid::text, '-', '') as guid from simulation_reopened limit 1",
  );
  model.check(rows.length === 0, () => `the ${rows[0]?.what} ${rows[0]?.guid} left its final state`);
}
