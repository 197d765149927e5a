import type { Transaction } from '../../infrastructure/database/database.ts';
import type { NewEvent } from '../../webhooks/events/service.ts';
import { fromUnits, toUnits, type Units } from '../money.ts';
import { eventsOf } from '../records.ts';
import { levelOf } from '../reserve.ts';
import type { ObjectRow } from '../store.ts';
import type { ObjectType } from '../types.ts';
import { type Holding, lockAccounts, selectHoldings } from './account-store.ts';
import { MAX_UNITS } from './quotes.ts';

/** A change of one balance; the account is named, or it is the one in which the customer holds the asset. */
type Movement = { asset: string; units: bigint; accountGuid?: string | undefined };
export type Balances = Awaited<ReturnType<typeof lockBalances>>;

/** The changes of balances when a sandbox object is completed. */
function movementsOf({ type, details }: ObjectRow): Movement[] {
  const { amount, deliver_amount = amount, receive_amount = amount } = details;
  if (type === 'transfer') {
    const asset = String(details.asset);
    const [source, destination] = [details.source_account_guid, details.destination_account_guid];
    return [
      { asset, units: -toUnits(deliver_amount as Units), accountGuid: source as string | undefined },
      { asset, units: toUnits(receive_amount as Units), accountGuid: destination as string | undefined },
    ].filter(({ accountGuid }) => accountGuid !== undefined);
  }
  // A trade without a quote has amounts of both assets only if its creation named them.
  if (type !== 'trade' || !('deliver_amount' in details && 'receive_amount' in details)) return [];
  const [base = '', quote = ''] = String(details.symbol).split('-');
  const [delivered, received] = details.side === 'buy' ? [quote, base] : [base, quote];
  return [
    { asset: delivered, units: -toUnits(deliver_amount as Units) },
    { asset: received, units: toUnits(receive_amount as Units) },
  ];
}

/**
 * Locks the accounts whose balances change when these objects are completed, with two statements for any number of
 * objects. Accounts without a balance, of another customer or with another asset are left alone.
 */
export async function lockBalances(
  transaction: Transaction,
  accountType: ObjectType,
  objects: readonly ObjectRow[],
) {
  const movements = new Map(objects.map((object) => [object.guid, movementsOf(object)]));
  const holdings = new Map<string, Holding>();
  for (const object of objects)
    for (const { asset, accountGuid } of movements.get(object.guid) ?? [])
      if (accountGuid === undefined && object.customer_guid !== null)
        holdings.set(keyOf(object, asset), {
          ...{ organizationGuid: object.organization_guid, customerGuid: object.customer_guid, asset },
        });
  const found = await selectHoldings(transaction, [...holdings.values()]);
  const held = new Map(found.map(({ customerGuid, asset, guid }) => [`${customerGuid} ${asset}`, guid]));
  const named = [...movements.values()].flat().flatMap(({ accountGuid = [] }) => accountGuid);
  const organizations = new Set(objects.map(({ organization_guid }) => organization_guid));
  const accountGuids = new Set([...held.values(), ...named]);
  const accounts = await lockAccounts(transaction, [...organizations], [...accountGuids]);
  const changed = new Map<string, ObjectRow>();

  function accountOf(object: ObjectRow, { asset, accountGuid }: Movement): ObjectRow | undefined {
    const account = accounts.get(accountGuid ?? held.get(keyOf(object, asset)) ?? '');
    const isOwn =
      account?.organization_guid === object.organization_guid &&
      account.customer_guid === object.customer_guid;
    return isOwn && account.details.asset === asset && 'balance' in account.details ? account : undefined;
  }

  return {
    /** The events of the accounts; undefined when a balance does not suffice, and then nothing changes. */
    complete(object: ObjectRow): NewEvent[] | undefined {
      const after = new Map<string, ObjectRow>();
      for (const movement of movements.get(object.guid) ?? []) {
        const found = accountOf(object, movement);
        if (!found) continue;
        const account = after.get(found.guid) ?? found;
        const balance = toUnits(account.details.balance as Units) + movement.units;
        if (balance < 0n || balance > MAX_UNITS) return undefined;
        const details = { ...account.details, balance: fromUnits(balance) };
        after.set(account.guid, { ...account, details, state: levelOf(details) });
      }
      return [...after.values()].flatMap((account) => {
        const from = accounts.get(account.guid)?.state ?? null;
        accounts.set(account.guid, account);
        changed.set(account.guid, account);
        return eventsOf(accountType, from, account);
      });
    },

    changed: (): ObjectRow[] => [...changed.values()],
  };
}

function keyOf({ customer_guid }: ObjectRow, asset: string): string {
  return `${customer_guid} ${asset}`;
}
