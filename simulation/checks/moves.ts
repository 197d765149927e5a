import type pg from 'pg';

/**
 * Every change of a state, as the database commits it: a row is overwritten several times between two looks at the
 * tables. Triggers write the moves, so that a transaction that rolls back leaves none.
 */
export type Move = { guid: string; type: string; from: string | null; to: string };

const FILE_STATE = (row: string) => `case when ${row}.completed_at is not null then 'completed'
  when ${row}.failed_at is not null then 'failed' else 'storing' end`;

export async function recordMoves(side: pg.Client): Promise<void> {
  await side.query(`
    create table simulation_moves (
      number bigint generated always as identity primary key,
      guid uuid not null, type text not null, from_state text, to_state text not null);
    create function simulation_object_moved() returns trigger security definer language plpgsql as $$ begin
      insert into simulation_moves (guid, type, from_state, to_state)
      values (new.guid, new.type, case when tg_op = 'UPDATE' then old.state end, new.state);
      return null;
    end $$;
    create trigger simulation_created after insert on objects for each row when (new.state is not null)
      execute function simulation_object_moved();
    create trigger simulation_moved after update on objects for each row
      when (new.state is distinct from old.state) execute function simulation_object_moved();
    create function simulation_file_moved() returns trigger security definer language plpgsql as $$ begin
      insert into simulation_moves (guid, type, from_state, to_state)
      values (new.guid, 'file', case when tg_op = 'UPDATE' then ${FILE_STATE('old')} end, ${FILE_STATE('new')});
      return null;
    end $$;
    create trigger simulation_created after insert on files for each row execute function simulation_file_moved();
    create trigger simulation_moved after update on files for each row
      when (new.completed_at is distinct from old.completed_at or new.failed_at is distinct from old.failed_at)
      execute function simulation_file_moved()`);
}

/** The moves of each object or file, in their order. */
export async function readMoves(side: pg.Client): Promise<ReadonlyMap<string, readonly Move[]>> {
  const { rows } = await side.query<Move>(`
    select replace(guid::text, '-', '') as guid, type, from_state as from, to_state as to
    from simulation_moves order by number`);
  return Map.groupBy(rows, ({ guid }) => guid);
}
