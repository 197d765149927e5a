import type { Transaction } from '../../infrastructure/database/database.ts';
import type { EnvironmentName } from '../../infrastructure/database/tables.ts';
import { Failure } from '../../infrastructure/runtime/failure.ts';
import { COUNTED_STATES, stateOf } from './state.ts';
import * as store from './store.ts';

/**
 * Checks the subscription that a new one replaces in a roll of its signing key. The caller holds the lock of the
 * Organization, so that two requests cannot begin the same roll.
 */
export async function refusalOfReplacement(
  transaction: Transaction,
  organizationGuid: string,
  { replaces_guid: guid, environment }: { replaces_guid?: string | undefined; environment: EnvironmentName },
  now: Date,
): Promise<Failure | undefined> {
  if (guid === undefined) return undefined;
  const tenant = { organizationGuid, environment };
  const replaced = await store.selectSubscription(transaction, tenant, guid, now);
  if (!replaced)
    return new Failure('not_found', 'replaces_guid does not name a subscription of this Organization');
  if (!COUNTED_STATES.includes(stateOf(replaced, now)))
    return new Failure('state_conflict', 'replaces_guid names a subscription that is failed or deleting');
  const rival = await store.selectReplacement(transaction, tenant, guid, now);
  if (!rival) return undefined;
  return new Failure(
    'state_conflict',
    `replaces_guid names a subscription that ${rival} already replaces; complete that roll, or delete ${rival}`,
  );
}
