import type { ObjectType } from '../agenda/paths.ts';
import type { ModelObject, Tenant } from '../world/model.ts';
import type { World } from '../world/world.ts';
import { type Calls, isOk } from './calls.ts';

const FIELDS: Readonly<Record<ObjectType, object>> = {
  transfer: { transfer_type: 'funding', asset: 'USD', amount: 100 },
  trade: { side: 'buy', symbol: 'BTC-USD', amount: 100 },
  identity_verification: { type: 'kyc', method: 'attested' },
  external_bank_account: { name: 'Savings', asset: 'USD' },
};
const PLURALS: Readonly<Record<ObjectType, string>> = {
  ...{ transfer: 'transfers', trade: 'trades', identity_verification: 'identity_verifications' },
  external_bank_account: 'external_bank_accounts',
};

/** Sandbox objects of partners. */
export function createObjectCalls({ model, sleep }: World, { callAsFounder, nodeAt }: Calls) {
  const sandboxes = () => model.tenants.filter(({ environment }) => environment === 'sandbox');
  const sandboxAt = (index: number) => sandboxes()[index % sandboxes().length] as Tenant;
  const customers = new Map<Tenant, string>();

  /** Created with the first object; undefined while its answer is unknown. */
  async function customerOf(tenant: Tenant, nodeIndex: number): Promise<string | undefined> {
    const known = customers.get(tenant);
    if (known !== undefined) return known;
    const created = await callAsFounder(nodeAt(nodeIndex), tenant.organizationGuid, {
      ...{ method: 'POST', url: '/api/customers' },
      payload: { type: 'individual', bank_guid: tenant.bankGuid },
    });
    if (!isOk(created)) return undefined;
    const guid = String(created.body.guid);
    customers.set(tenant, guid);
    return guid;
  }

  return {
    sandboxAt,
    customerOf,

    /** Deleted `deleteAfterMs` after its creation, if that is given, while the simulator may be moving it. */
    async create(type: ObjectType, { tenant: index, node, ending, deleteAfterMs }: NewObject): Promise<void> {
      const tenant = sandboxAt(index);
      const customer = await customerOf(tenant, node);
      if (customer === undefined) return;
      const created = await callAsFounder(nodeAt(node), tenant.organizationGuid, {
        ...{ method: 'POST', url: `/api/${PLURALS[type]}` },
        payload: { ...FIELDS[type], customer_guid: customer, bank_guid: tenant.bankGuid, simulate: ending },
      });
      if (!isOk(created)) return;
      const object: ModelObject = { guid: String(created.body.guid), type, ending, deletion: 'none' };
      model.objects.push(object);
      if (deleteAfterMs === undefined) return;
      await sleep(deleteAfterMs);
      object.deletion = 'called';
      const url = `/api/${PLURALS[type]}/${object.guid}`;
      const deleted = await callAsFounder(nodeAt(node + 1), tenant.organizationGuid, {
        method: 'DELETE',
        url,
      });
      if (isOk(deleted)) object.deletion = 'answered';
    },
  };
}

type NewObject = { tenant: number; node: number; ending: string; deleteAfterMs: number | undefined };
