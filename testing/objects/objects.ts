import assert from 'node:assert/strict';
import { statesOf } from '../../server/objects/machine.ts';
import { OBJECT_TYPES, type ObjectType } from '../../server/objects/types.ts';
import { type JsonSchema, sampleOf } from '../api/json-samples.ts';
import type { Answer, TestApp } from '../app/app.ts';
import type { Tenant } from '../app/tenant.ts';
import { nextGuid } from './customers.ts';

/** The bank and customer of a test's objects. */
export type Owner = Pick<Tenant, 'bankGuid'> & { customerGuid: string };

export function typeOf(name: string): ObjectType {
  const type = OBJECT_TYPES.find((candidate) => candidate.name === name);
  assert.ok(type, `there is no object type ${name}`);
  return type;
}

/** A valid report of an object by the platform's core. */
export function reportOf(
  { name, details, machine, customer }: ObjectType,
  { bankGuid, customerGuid }: Owner,
  fields: object = {},
): object {
  return {
    bank_guid: bankGuid,
    ...(customer !== 'itself' && { customer_guid: customerGuid }),
    ...(machine && !machine.derived && { state: statesOf(machine)[0] }),
    details: { ...(sampleOf(details as JsonSchema) as object), ...DETAILS[name] },
    ...fields,
  };
}

/** Values that tests rely on beyond a generated sample. */
const DETAILS: Record<string, object> = {
  account: { type: 'reserve', balance: 1_000, low_balance: 500, minimum_balance: 100 },
  quote: { product_type: 'trading', side: 'buy', symbol: 'BTC-USD' },
};

/** For deposit addresses, which fiat accounts do not have. */
export const CRYPTO_ACCOUNT = { details: { type: 'trading', asset: 'BTC' } };

/** Creations whose fields depend on each other. */
const INPUTS: Record<string, Record<string, unknown>> = {
  quote: { product_type: 'trading', side: 'buy', symbol: 'BTC-USD', deliver_amount: 100_000 },
};

/** The state that lets another object refer to it, and a partner refresh it. */
const NAMEABLE: Record<string, object> = {
  plan: { state: 'completed' },
  external_bank_account: { state: 'completed' },
};

export function report(app: TestApp, type: ObjectType, guid: string, payload: object): Promise<Answer> {
  return app.operate('PUT', `/objects/${type.name}/${guid}`, payload);
}

/** An object as the core reports it; works in both environments. */
export async function reportObject(
  app: TestApp,
  name: string,
  owner: Owner,
  fields: object = {},
): Promise<string> {
  const type = typeOf(name);
  const guid = nextGuid(app);
  const payload = reportOf(type, owner, { ...NAMEABLE[name], ...fields });
  const { status, body } = await report(app, type, guid, payload);
  assert.equal(status, 200, JSON.stringify(body));
  return guid;
}

/** The body with which a partner creates one; its references exist. */
export async function newObject(app: TestApp, type: ObjectType, owner: Owner): Promise<object> {
  const reported = reportOf(type, owner) as { details: Record<string, unknown> };
  const details = INPUTS[type.name] ?? reported.details;
  const required = Object.entries(type.references ?? {}).filter(([field]) => field in details);
  for (const [field, [kind = '']] of required)
    details[field] = await reportObject(app, kind, owner, field === 'account_guid' ? CRYPTO_ACCOUNT : {});
  return { ...details, ...(type.customer !== 'itself' && { customer_guid: owner.customerGuid }) };
}
