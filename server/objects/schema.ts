import Type, { type TObject, type TProperties } from 'typebox';
import {
  createdAtFilters,
  environmentsFilter,
  guidsFilter,
  wordsFilter,
} from '../infrastructure/http/requests/filters.ts';
import { listQuery } from '../infrastructure/http/requests/paging.ts';
import { EnvironmentName, Guid, strictObject, Timestamp } from '../infrastructure/http/requests/schemas.ts';
import { type Details, endingsOf, type Machine, statesOf } from './machine.ts';
import type { ObjectRow } from './store.ts';
import type { ObjectType } from './types.ts';

/** The schemas of a kind of object, all made from its row in `types.ts`. */
const MAX_LABELS = 16;
const MAX_LABEL_CHARACTERS = 64;

const Labels = Type.Array(Type.String({ minLength: 1, maxLength: MAX_LABEL_CHARACTERS, pattern: '\\S' }), {
  maxItems: MAX_LABELS,
  uniqueItems: true,
  description: 'words of your own, to know it by',
});

/** What a partner sends to create one. */
export type NewObject = Details & {
  bank_guid?: string;
  customer_guid?: string;
  labels?: string[];
  simulate?: string;
};

/** What the platform's core reports of one. */
export type ReportedObject = {
  bank_guid: string;
  customer_guid?: string;
  state?: string;
  details?: Details;
  labels?: string[];
};

const CUSTOMER_OF_NEW = {
  required: 'required, except of customer tokens, which have their own',
  optional: 'whose it is, if it is not the bank’s own; customer tokens have their own',
};

export function newObjectSchema({ details, customer, machine }: ObjectType): TObject {
  return strictObject({
    ...details.properties,
    ...(customer === 'itself'
      ? {}
      : { customer_guid: Type.Optional({ ...Guid, description: CUSTOMER_OF_NEW[customer] }) }),
    bank_guid: Type.Optional({
      ...Guid,
      description: 'required of Organization tokens; a bank token has its own bank',
    }),
    labels: Type.Optional(Labels),
    ...(machine && { simulate: Type.Optional(simulateSchema(machine)) }),
  });
}

function simulateSchema(machine: Machine) {
  return Type.Enum(endingsOf(machine), { description: 'the state in which the simulation is to end' });
}

export function reportedObjectSchema({ details, customer, machine }: ObjectType): TObject {
  return strictObject({
    bank_guid: Guid,
    ...(customer === 'itself' ? {} : { customer_guid: Type.Optional(Guid) }),
    ...(machine && !machine.derived && { state: Type.Enum(statesOf(machine)) }),
    details: Type.Optional({
      ...details,
      description: 'required of the first report, then kept if left out',
    }),
    labels: Type.Optional(Labels),
  });
}

export function objectViewSchema({ details, customer, machine }: ObjectType): TObject {
  return Type.Object({
    guid: Guid,
    organization_guid: Guid,
    bank_guid: Guid,
    environment: EnvironmentName,
    ...(customer === 'itself' ? {} : { customer_guid: Type.Optional(Guid) }),
    ...(machine && { state: Type.Enum(statesOf(machine)) }),
    ...details.properties,
    labels: Type.Optional(Labels),
    created_at: Timestamp,
    updated_at: Timestamp,
  });
}

export function objectQuerySchema({ details, customer, machine }: ObjectType) {
  const filters: TProperties = {
    guid: guidsFilter,
    ...(machine && { state: wordsFilter }),
    ...('type' in details.properties && { type: wordsFilter }),
    bank_guid: guidsFilter,
    ...(customer === 'itself' ? {} : { customer_guid: guidsFilter }),
    environment: environmentsFilter,
    ...createdAtFilters,
  };
  return listQuery(filters);
}

export function viewObject({ customer }: ObjectType, object: ObjectRow): Record<string, unknown> {
  return {
    guid: object.guid,
    organization_guid: object.organization_guid,
    bank_guid: object.bank_guid,
    environment: object.environment,
    ...(object.customer_guid === null || customer === 'itself'
      ? {}
      : { customer_guid: object.customer_guid }),
    ...(object.state === null ? {} : { state: object.state }),
    ...object.details,
    ...(object.labels.length === 0 ? {} : { labels: object.labels }),
    created_at: object.created_at.toISOString(),
    updated_at: object.updated_at.toISOString(),
  };
}
