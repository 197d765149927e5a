import type { Arguments } from './arguments.ts';
import { type Call, type Field, kebab } from './calls.ts';
import { misuse } from './help.ts';
import { parseJson, readValue } from './values.ts';

export type CallRequest = { method: string; path: string; body: string | undefined };

const STANDARD_INPUT = '-';

export async function requestOf(
  call: Call,
  given: Arguments,
  readStandardInput: () => Promise<string>,
): Promise<CallRequest> {
  const query = queryString(valuesOf(call, call.query, given));
  const json = given.json === STANDARD_INPUT ? await readStandardInput() : given.json;
  return { method: call.method, path: `${pathOf(call, given)}${query}`, body: bodyOf(call, given, json) };
}

function pathOf(call: Call, { positionals }: Arguments): string {
  const texts = positionals.values();
  return call.path.replaceAll(/\{[^}]+\}/g, () => encodeURIComponent(texts.next().value ?? ''));
}

function queryString(values: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values))
    for (const one of [value].flat()) query.append(name, String(one));
  return query.size === 0 ? '' : `?${query}`;
}

/** A required body is sent even when empty, so that the service names the missing field. */
function bodyOf(call: Call, given: Arguments, json: string | undefined): string | undefined {
  if (!call.body) return undefined;
  const fields = valuesOf(call, call.body.fields, given);
  const whole = json === undefined ? {} : parsed(call, '--json', () => parseJson(json));
  const hasFields = Object.keys(fields).length > 0;
  if (json === undefined && !hasFields && !call.body.required) return undefined;
  if (!hasFields) return JSON.stringify(whole);
  if (typeof whole !== 'object' || whole === null || Array.isArray(whole))
    throw misuse(call, '--json must be a JSON object when it is combined with other flags.');
  return JSON.stringify({ ...whole, ...fields });
}

function valuesOf(call: Call, fields: readonly Field[], { flags }: Arguments): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const { name, schema } of fields) {
    const texts = flags.get(name);
    if (texts) values[name] = parsed(call, `--${kebab(name)}`, () => readValue(schema, texts));
  }
  return values;
}

/** Reports a value that cannot be parsed with its flag. */
function parsed<T>(call: Call, flag: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw misuse(call, `${flag} ${(error as Error).message}.`);
  }
}
