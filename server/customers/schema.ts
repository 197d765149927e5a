import Type, { type Static } from 'typebox';
import { EnvironmentName, Guid, strictObject, Timestamp } from '../http/schemas.ts';
import type { Customer } from './store.ts';

const MAX_NAME_CHARACTERS = 128;

export const CustomerType = Type.Enum(['individual', 'business'], { description: 'individual or business' });
export const CustomerName = Type.String({ minLength: 1, maxLength: MAX_NAME_CHARACTERS, pattern: '\\S' });

export const NewCustomer = strictObject({
  type: CustomerType,
  name: Type.Optional(CustomerName),
  bank_guid: Type.Optional({
    ...Guid,
    description: 'required of Organization tokens; a bank token has its own bank',
  }),
});

export const CustomerView = Type.Object({
  guid: Guid,
  organization_guid: Guid,
  bank_guid: Guid,
  environment: EnvironmentName,
  type: CustomerType,
  name: Type.Optional(Type.String()),
  created_at: Timestamp,
  updated_at: Timestamp,
});

export function viewCustomer(customer: Customer): Static<typeof CustomerView> {
  return {
    guid: customer.guid,
    organization_guid: customer.organization_guid,
    bank_guid: customer.bank_guid,
    environment: customer.environment,
    type: customer.type,
    ...(customer.name === null ? {} : { name: customer.name }),
    created_at: customer.created_at.toISOString(),
    updated_at: customer.updated_at.toISOString(),
  };
}
