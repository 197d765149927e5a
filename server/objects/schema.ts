import Type, { type TObject, type TProperties, type TSchema } from 'typebox';
import { pascalCase } from '../infrastructure/http/openapi/names.ts';
import {
  createdAtFilters,
  environmentsFilter,
  guidsFilter,
  updatedAtFilters,
  wordsFilter,
} from '../infrastructure/http/requests/filters.ts';
import {
  EnvironmentName,
  Guid,
  inputSchema,
  strictObject,
  Timestamp,
} from '../infrastructure/http/requests/schemas.ts';
import { valueFiltersOf } from './lists/value-filters.ts';
import { type Details, endingsOf, type Machine, statesOf } from './machine.ts';
import { normaliseAmounts } from './money.ts';
import type { ObjectRow } from './store.ts';
import type { ObjectType } from './types.ts';

/** All schemas of an object type are derived from its entry in `types.ts`. */
const MAX_LABELS = 10;
const MAX_LABEL_CHARACTERS = 50;

const Label = Type.String({
  minLength: 1,
  maxLength: MAX_LABEL_CHARACTERS,
  pattern: '\\S',
  example: 'onboarding-2026',
});
const Labels = Type.Array(Label, {
  title: 'Labels',
  maxItems: MAX_LABELS,
  uniqueItems: true,
  description: `At most ${MAX_LABELS} labels of your own, each with 1 to ${MAX_LABEL_CHARACTERS} characters`,
});

/** The body of a creation by a partner. */
export type NewObject = Details & {
  bank_guid?: string;
  customer_guid?: string;
  labels?: string[];
  simulate?: string;
};

/** The body of a report by the platform's core. */
export type ReportedObject = {
  bank_guid: string;
  customer_guid?: string;
  state?: string;
  details?: Details;
  labels?: string[];
};

/** The body of a change by a partner; `null` removes a field. */
export type ObjectUpdate = Details & { labels?: string[]; state?: 'refresh'; simulate?: string };

const CUSTOMER_OF_NEW = {
  required: 'The customer that it belongs to. Required, except with a customer token',
  optional: 'The customer that it belongs to, if any. A customer token sets its own customer',
};

export function newObjectSchema(type: ObjectType): TObject {
  const { name, details, input = details, customer, machine, fromQuote } = type;
  const properties = {
    ...input.properties,
    ...(fromQuote && optional(input.properties, fromQuote.required)),
    ...(customer === 'itself'
      ? {}
      : { customer_guid: Type.Optional({ ...Guid, description: CUSTOMER_OF_NEW[customer] }) }),
    bank_guid: Type.Optional({
      ...Guid,
      description:
        'The bank of the object. Required with an Organization token; a bank token sets its own bank',
    }),
    labels: Type.Optional(Labels),
    ...(machine && { simulate: Type.Optional(simulateSchema(machine)) }),
  };
  const title = `New${pascalCase(name)}`;
  return strictObject(properties, {
    ...{ title, ...(fromQuote && requiredUnless('quote_guid', fromQuote.required)) },
    ...withExample(input, properties),
  });
}

/** Where fields exclude each other, the example of the fields tells which of them appear. */
function withExample({ properties: own, example }: TObject & { example?: object }, properties: TProperties) {
  if (!example) return {};
  const names = Object.keys(properties).filter((name) => !(name in own) || name in example);
  return { example: Object.fromEntries(names.map((name) => [name, (example as Details)[name]])) };
}

function optional(properties: TProperties, names: readonly string[]): TProperties {
  return Object.fromEntries(names.map((name) => [name, Type.Optional(properties[name] as TSchema)]));
}

function requiredUnless(alternative: string, names: readonly string[]) {
  return { if: { required: [alternative] }, else: { required: names } };
}

export function objectUpdateSchema({ name, details, machine, changeable = [] }: ObjectType): TObject {
  const fields = Object.entries(details.properties).filter(([field]) => changeable.includes(field));
  const properties = {
    ...Object.fromEntries(fields.map(([field, schema]) => [field, Type.Optional(removable(schema))])),
    ...(changeable.includes('labels') && { labels: Type.Optional(Labels) }),
    ...(changeable.includes('state') &&
      machine && {
        state: Type.Enum(['refresh'], { description: 'refresh: starts again with the first state' }),
        simulate: Type.Optional(simulateSchema(machine)),
      }),
  };
  return inputSchema(`${pascalCase(name)}Changes`, properties);
}

function removable(schema: TSchema): TSchema {
  return Type.Union([schema, Type.Null()], { description: 'The new value; null removes the field' });
}

function simulateSchema(machine: Machine) {
  return Type.Enum(endingsOf(machine), { description: 'The state in which the simulation ends (sandbox)' });
}

function stateSchema(name: string, machine: Machine) {
  return Type.Enum(statesOf(machine), { title: `${pascalCase(name)}State` });
}

export function reportedObjectSchema({ name, details, customer, machine, generated }: ObjectType): TObject {
  const properties = {
    bank_guid: Guid,
    ...(customer === 'itself' ? {} : { customer_guid: Type.Optional(Guid) }),
    ...(machine && !machine.derived && { state: stateSchema(name, machine) }),
    details: Type.Optional({
      ...strictObject({ ...details.properties, ...generated?.properties }),
      description: 'Required in the first report of an object, then optional',
    }),
    labels: Type.Optional(Labels),
  };
  return inputSchema(`${pascalCase(name)}Report`, properties);
}

export function objectViewSchema(type: ObjectType): TObject {
  const { name, details, customer, machine, generated, forms } = type;
  const properties = {
    guid: Guid,
    organization_guid: Guid,
    bank_guid: Guid,
    environment: EnvironmentName,
    ...(customer === 'itself' ? {} : { customer_guid: Type.Optional(Guid) }),
    ...(machine && { state: stateSchema(name, machine) }),
    ...{ ...details.properties, ...forms?.view, ...generated?.properties },
    labels: Type.Optional(Labels),
    created_at: Timestamp,
    updated_at: Timestamp,
  };
  return Type.Object(properties, { title: pascalCase(name), ...withExample(details, properties) });
}

export function objectFilters(type: ObjectType): TProperties {
  const { details, customer, machine } = type;
  return {
    guid: guidsFilter,
    ...(machine && { state: wordsFilter }),
    ...('type' in details.properties && { type: wordsFilter }),
    bank_guid: guidsFilter,
    ...(customer === 'itself' ? {} : { customer_guid: guidsFilter }),
    environment: environmentsFilter,
    ...valueFiltersOf(type),
    ...createdAtFilters,
    ...updatedAtFilters,
  };
}

/** The details in the form in which they are stored. */
export function storedDetails({ details: schema, forms }: ObjectType, given: Details): Details {
  const details = normaliseAmounts(schema, given);
  return forms?.store(details) ?? details;
}

export function viewObject({ customer, forms }: ObjectType, object: ObjectRow): Record<string, unknown> {
  return {
    guid: object.guid,
    organization_guid: object.organization_guid,
    bank_guid: object.bank_guid,
    environment: object.environment,
    ...(object.customer_guid === null || customer === 'itself'
      ? {}
      : { customer_guid: object.customer_guid }),
    ...(object.state === null ? {} : { state: object.state }),
    ...(forms?.show(object.details) ?? object.details),
    ...(object.labels.length === 0 ? {} : { labels: object.labels }),
    created_at: object.created_at.toISOString(),
    updated_at: object.updated_at.toISOString(),
  };
}
