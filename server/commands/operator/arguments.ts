import { type Call, type Field, kebab } from './calls.ts';
import { misuse } from './help.ts';
import { typeOf } from './values.ts';

/** What was typed after the words of a call, sorted but not yet read. */
export type Arguments = {
  /** In the order of the call's path. */
  positionals: readonly string[];
  /** The texts given for each flag, by the name that the API gives it. */
  flags: ReadonlyMap<string, readonly string[]>;
  json: string | undefined;
};

const JSON_FLAG = 'json';

export function sortArguments(call: Call, typed: readonly string[]): Arguments {
  const fields = flagsOf(call);
  const positionals: string[] = [];
  const flags = new Map<string, string[]>();
  let json: string | undefined;

  const waiting = [...typed];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    if (!next.startsWith('-')) {
      positionals.push(next);
      continue;
    }
    const [flag = '', inline] = splitOnce(next);
    const name = kebab(flag.slice(2));
    if (call.body && flag === `--${JSON_FLAG}`) {
      if (json !== undefined) throw misuse(call, '--json is given more than once.');
      json = inline ?? valueFrom(waiting, flag);
      continue;
    }
    const field = flag.startsWith('--') ? fields.get(name) : undefined;
    if (!field) throw misuse(call, `There is no flag ${flag}.`);
    const text =
      inline ?? (typeOf(field.schema) === 'boolean' ? truthFrom(waiting) : valueFrom(waiting, flag));
    flags.set(field.name, [...(flags.get(field.name) ?? []), text]);
  }
  requirePositionals(call, positionals);
  return { positionals, flags, json };

  function valueFrom(rest: string[], flag: string): string {
    // Text that begins with two hyphens is more likely the next flag; --flag=--text still says it.
    const value = rest[0]?.startsWith('--') ? undefined : rest.shift();
    if (value === undefined) throw misuse(call, `${flag} needs a value.`);
    return value;
  }
}

function flagsOf({ query, body }: Call): ReadonlyMap<string, Field> {
  return new Map([...query, ...(body?.fields ?? [])].map((field) => [kebab(field.name), field]));
}

function splitOnce(argument: string): readonly [flag: string, inline?: string] {
  const equals = argument.indexOf('=');
  return equals < 0 ? [argument] : [argument.slice(0, equals), argument.slice(equals + 1)];
}

/** A flag that is true or false may stand alone, so only those two words belong to it. */
function truthFrom(rest: string[]): string {
  return rest[0] === 'true' || rest[0] === 'false' ? (rest.shift() as string) : 'true';
}

function requirePositionals(call: Call, given: readonly string[]): void {
  for (const [index, { label }] of call.positionals.entries()) {
    const text = given[index];
    if (text === undefined) throw misuse(call, `${label} is missing.`);
    // In a path these are not names: they would lead to another address.
    if (text === '' || text === '.' || text === '..') throw misuse(call, `${label} cannot be "${text}".`);
  }
  const surplus = given[call.positionals.length];
  if (surplus !== undefined) throw misuse(call, `"${surplus}" is one argument too many.`);
}
