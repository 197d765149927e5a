import type { Queries, Transaction } from '../../../infrastructure/database/database.ts';

type Network = { memberGuid: string; network: string };

export async function hasNetwork(
  queries: Queries,
  { memberGuid, network }: Network,
  usedSince: Date,
): Promise<boolean> {
  const found = await queries
    .selectFrom('login_networks')
    .select('network')
    .where('member_guid', '=', memberGuid)
    .where('network', '=', network)
    .where('used_at', '>', usedSince)
    .executeTakeFirst();
  return found !== undefined;
}

export async function upsertNetwork(
  transaction: Transaction,
  { memberGuid, network }: Network,
  now: Date,
): Promise<void> {
  await transaction
    .insertInto('login_networks')
    .values({ member_guid: memberGuid, network, used_at: now })
    .onConflict((conflict) => conflict.columns(['member_guid', 'network']).doUpdateSet({ used_at: now }))
    .execute();
}

/** Keeps the `keep` most recently used networks. */
export async function deleteOldNetworks(
  transaction: Transaction,
  memberGuid: string,
  keep: number,
): Promise<void> {
  const old = transaction
    .selectFrom('login_networks')
    .select('network')
    .where('member_guid', '=', memberGuid)
    .orderBy('used_at', 'desc')
    .offset(keep);
  await transaction
    .deleteFrom('login_networks')
    .where('member_guid', '=', memberGuid)
    .where('network', 'in', old)
    .execute();
}

export async function deleteUnusedNetworks(queries: Queries, usedSince: Date): Promise<void> {
  await queries.deleteFrom('login_networks').where('used_at', '<=', usedSince).execute();
}
