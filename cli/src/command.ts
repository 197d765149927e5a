import { parseArgs } from 'node:util';
import { UsageError } from './failure.ts';
import type { Io } from './io.ts';
import type { Session } from './session.ts';

export type Option = {
  /** The name of its value in the help; without it the option has none. */
  value?: string;
  /** Completed by the shell. */
  values?: readonly string[];
  multiple?: true;
  description: string;
};

export type Options = {
  text(name: string): string | undefined;
  texts(name: string): string[];
  flag(name: string): boolean;
};

export type Context = {
  io: Io;
  positionals: readonly string[];
  options: Options;
  /** Of the chosen profile; an error tells to log in. */
  session(): Promise<Session>;
};

export type Command = {
  /** Words such as `events list`. */
  name: string;
  summary: string;
  /** Names of the positionals; `[name]` is optional, `name...` takes several. */
  positionals?: readonly string[];
  /** Of the first positional, completed by the shell. */
  values?: readonly string[];
  options?: Readonly<Record<string, Option>>;
  /** A Bank key cannot read the events of its Organization. */
  needsOrganizationKey?: true;
  examples: readonly string[];
  run(context: Context): Promise<void>;
};

export const COMMON_OPTIONS: Readonly<Record<string, Option>> = {
  profile: { value: 'name', description: 'use this profile instead of the current one' },
  json: { description: 'print JSON: one document, or one per line where output goes on' },
  help: { description: 'print this help' },
};

export function parseArguments(
  command: Command,
  args: readonly string[],
): { positionals: string[]; options: Options } {
  const known = { ...command.options, ...COMMON_OPTIONS };
  const config = Object.fromEntries(
    Object.entries(known).map(([name, { value, multiple }]) => [
      name,
      {
        type: value === undefined ? ('boolean' as const) : ('string' as const),
        multiple: multiple === true,
        ...(name === 'help' ? { short: 'h' } : {}),
      },
    ]),
  );
  const parsed = parse(command, args, config);
  const all = (name: string) => [parsed.values[name] ?? []].flat();
  const options = {
    text: (name: string) => all(name)[0] as string | undefined,
    texts: (name: string) => all(name) as string[],
    flag: (name: string) => all(name)[0] === true,
  };
  if (!options.flag('help')) checkPositionals(command, parsed.positionals);
  return { positionals: parsed.positionals, options };
}

function parse(
  command: Command,
  args: readonly string[],
  options: NonNullable<Parameters<typeof parseArgs>[0]>['options'],
) {
  try {
    return parseArgs({ args: [...args], options: options ?? {}, allowPositionals: true, strict: true });
  } catch (error) {
    const [message = ''] = (error as Error).message.split(/\.? (?=To )|\.?\n/);
    const [, option] = /'(?:-\w, )?(--[\w-]+).* argument (?:missing|is ambiguous)/.exec(message) ?? [];
    throw misuse(command, option ? `${option} needs a value.` : `${message}.`);
  }
}

function checkPositionals(command: Command, given: readonly string[]): void {
  const expected = command.positionals ?? [];
  const missing = expected.find((name, index) => !name.startsWith('[') && given[index] === undefined);
  if (missing) throw misuse(command, `${missing.replace('...', '').toUpperCase()} is missing.`);
  const surplus = expected.at(-1)?.endsWith('...') ? undefined : given[expected.length];
  if (surplus !== undefined) throw misuse(command, `Unexpected argument ${surplus}.`);
}

function misuse(command: Command, sentence: string): UsageError {
  return new UsageError(`${sentence}\n${usageOf(command)}`);
}

export function usageOf({ name, positionals = [] }: Command): string {
  const names = positionals.map((each) => each.toUpperCase());
  return ['Usage: portico', name, ...names, '[options]'].join(' ');
}
