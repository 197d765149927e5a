import type { Field, Values } from './fields/fields.ts';

type Body = Record<string, unknown>;

export function initialValues(fields: readonly Field[]): Values {
  return Object.fromEntries(fields.map(({ name, initial = '' }) => [name, initial]));
}

export function shownFields(fields: readonly Field[], values: Values): Field[] {
  return fields.filter(({ shownIf }) => shownIf?.(values) ?? true);
}

/** The values after a change of one, with choices that the others no longer allow replaced. */
export function changedValues(fields: readonly Field[], values: Values, name: string, value: string): Values {
  const changed = { ...values, [name]: value };
  for (const field of fields) {
    const offered = field.offered?.(changed);
    if (offered && !offered.includes(changed[field.name] ?? '')) changed[field.name] = offered[0] ?? '';
  }
  return changed;
}

export function errorsOf(fields: readonly Field[], values: Values): Record<string, string> {
  const shown = shownFields(fields, values);
  const isGiven = ({ name }: Field) => textOf(values, name) !== '';
  const errors: Record<string, string> = {};
  for (const field of shown) {
    const isGroupGiven = () => shown.some((other) => other.group === field.group && isGiven(other));
    const isRequired = field.required || (field.requiredInGroup === true && isGroupGiven());
    const others = shown.filter(
      ({ name, group }) => field.insteadOf !== undefined && [name, group].includes(field.insteadOf),
    );
    if (isGiven(field) ? others.some(isGiven) : isRequired)
      errors[field.name] = isGiven(field) ? 'Enter this or the alternative, not both' : 'Required';
  }
  return errors;
}

/** Empty fields are omitted: the API accepts neither null nor empty strings. */
export function bodyOf(fields: readonly Field[], values: Values): Body {
  const body: Body = {};
  for (const field of shownFields(fields, values)) {
    const text = textOf(values, field.name);
    if (text === '') continue;
    const [name = '', part] = field.name.split('.');
    const value = typedValue(field, text);
    body[name] = part === undefined ? value : { ...(body[name] as object | undefined), [part]: value };
  }
  return body;
}

/** The fields that differ from those of the object; null removes one. */
export function updateOf(fields: readonly Field[], values: Values, object: Body): Body {
  const [before, after] = [bodyOf(fields, valuesOf(fields, object)), bodyOf(fields, values)];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const changed = [...names].filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  return Object.fromEntries(changed.map((name) => [name, after[name] ?? null]));
}

export function valuesOf(fields: readonly Field[], object: Body): Values {
  return Object.fromEntries(
    fields.map((field) => {
      const [name = '', part] = field.name.split('.');
      const value = part === undefined ? object[name] : (object[name] as Body | undefined)?.[part];
      return [field.name, String(value ?? '')];
    }),
  );
}

function textOf(values: Values, name: string): string {
  return (values[name] ?? '').trim();
}

function typedValue({ kind }: Field, text: string): unknown {
  // JSON numbers are exact up to 2^53 - 1; the API takes larger amounts as text.
  if (kind === 'integer') return Number.isSafeInteger(Number(text)) ? Number(text) : text;
  return kind === 'files' ? text.split(',') : text;
}
