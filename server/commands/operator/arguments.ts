import { type Call, FILE_FIELD, type Field, kebab } from './calls.ts';
import { misuse } from './help.ts';
import { typeOf } from './values.ts';

/** Arguments of a call, sorted but not parsed. */
export type Arguments = {
  /** In the order of the path. */
  positionals: readonly string[];
  /** Texts by flag, under the name that the API uses. */
  flags: ReadonlyMap<string, readonly string[]>;
  json: string | undefined;
};

const JSON_FLAG = 'json';

export function sortArguments(call: Call, typed: readonly string[]): Arguments {
  const fields = flagsOf(call);
  const positionals: string[] = [];
  const flags = new Map<string, string[]>();
  let json: string | undefined;

  const rest = [...typed];
  for (let next = rest.shift(); next !== undefined; next = rest.shift()) {
    if (!next.startsWith('-')) {
      positionals.push(next);
      continue;
    }
    const [flag = '', inline] = splitOnce(next);
    const name = kebab(flag.slice(2));
    if (call.body && flag === `--${JSON_FLAG}`) {
      if (json !== undefined) throw misuse(call, '--json must be given only once.');
      json = inline ?? valueFrom(rest, flag);
      continue;
    }
    const field = flag.startsWith('--') ? fields.get(name) : undefined;
    if (!field) throw misuse(call, `Unknown flag ${flag}.`);
    const text = inline ?? (typeOf(field.schema) === 'boolean' ? booleanFrom(rest) : valueFrom(rest, flag));
    flags.set(field.name, [...(flags.get(field.name) ?? []), text]);
  }
  requirePositionals(call, positionals);
  return { positionals, flags, json };

  function valueFrom(args: string[], flag: string): string {
    // Text that starts with two hyphens is probably the next flag; --flag=--text still passes it.
    const value = args[0]?.startsWith('--') ? undefined : args.shift();
    if (value === undefined) throw misuse(call, `${flag} needs a value.`);
    return value;
  }
}

function flagsOf({ query, body, file }: Call): ReadonlyMap<string, Field> {
  const fields = [...(file ? [FILE_FIELD] : []), ...query, ...(body?.fields ?? [])];
  return new Map(fields.map((field) => [kebab(field.name), field]));
}

function splitOnce(argument: string): readonly [flag: string, inline?: string] {
  const equals = argument.indexOf('=');
  return equals < 0 ? [argument] : [argument.slice(0, equals), argument.slice(equals + 1)];
}

/** A boolean flag may stand alone, so it consumes only `true` and `false`. */
function booleanFrom(rest: string[]): string {
  return rest[0] === 'true' || rest[0] === 'false' ? (rest.shift() as string) : 'true';
}

function requirePositionals(call: Call, given: readonly string[]): void {
  for (const [index, { label }] of call.positionals.entries()) {
    const text = given[index];
    if (text === undefined) throw misuse(call, `${label} is missing.`);
    // In a path these would address another resource.
    if (text === '' || text === '.' || text === '..') throw misuse(call, `${label} must not be "${text}".`);
  }
  const surplus = given[call.positionals.length];
  if (surplus !== undefined) throw misuse(call, `Unexpected argument "${surplus}".`);
}
