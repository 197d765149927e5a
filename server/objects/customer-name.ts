import Type from 'typebox';
import { nameSchema, strictObject } from '../infrastructure/http/requests/schemas.ts';
import { Failure } from '../infrastructure/runtime/failure.ts';
import type { Details } from './machine.ts';

export const MAX_NAME_CHARACTERS = 128;
const MAX_PART_CHARACTERS = 64;

export const CustomerName = strictObject(
  {
    full: Type.Optional(nameSchema(MAX_NAME_CHARACTERS, 'Ada King Lovelace')),
    first: Type.Optional(nameSchema(MAX_PART_CHARACTERS, 'Ada')),
    middle: Type.Optional(nameSchema(MAX_PART_CHARACTERS, 'King')),
    last: Type.Optional(nameSchema(MAX_PART_CHARACTERS, 'Lovelace')),
  },
  {
    title: 'CustomerName',
    description: 'Either full, or first, last and optionally middle',
    example: { first: 'Ada', middle: 'King', last: 'Lovelace' },
  },
);

export const NameInput = Type.Union([nameSchema(MAX_NAME_CHARACTERS, 'Ada Lovelace'), CustomerName], {
  description: 'The full name as a string, or its parts. A string is returned as full',
});

type Name = { full?: string; first?: string; middle?: string; last?: string };

export function refuseName({ name }: Details): Failure | undefined {
  if (name === undefined || typeof name === 'string') return undefined;
  const { full, first, middle, last } = name as Name;
  const parts = [first, middle, last].filter((part) => part !== undefined);
  const isValid = full === undefined ? first !== undefined && last !== undefined : parts.length === 0;
  return isValid
    ? undefined
    : new Failure('invalid_parameter', 'name must have either full, or first and last');
}

/** A full name is stored as a string: nodes of the previous version read no other form. */
export function storeName(details: Details): Details {
  const full = (details.name as Name | undefined)?.full;
  return full === undefined ? details : { ...details, name: full };
}

export function showName(details: Details): Details {
  return typeof details.name === 'string' ? { ...details, name: { full: details.name } } : details;
}
