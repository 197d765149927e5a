import { VERSION } from '../../sdk/src/version.ts';
import { type Command, parseArguments } from './command.ts';
import { COMMANDS } from './commands/commands.ts';
import { describeError, errorObject, UsageError } from './failure.ts';
import { commandRows, describeCommand, listCommands } from './help.ts';
import type { Io, Output } from './io.ts';
import { explainRefusal } from './organization-key.ts';
import { columnsOf } from './output/layout.ts';
import { paragraphs } from './output/print.ts';
import { printableJson, styleFor } from './output/style.ts';
import { createProfiles } from './profiles/profiles.ts';
import { createSession } from './session.ts';
import { nearest } from './suggestion.ts';

const HELP = ['help', '--help', '-h'];
const VERSIONS = ['version', '--version', '-v'];

const FIRST_WORDS: readonly string[] = [
  ...new Set(COMMANDS.map(({ name }) => name.split(' ')[0] as string)),
  ...[...HELP, ...VERSIONS, '--profile', '--json'],
];

export const listPartnerCommands = (output: Output) => commandRows(COMMANDS, columnsOf(output));

/** Runs a command and returns its exit code. Errors are printed in one sentence, as JSON with `--json`. */
export async function run(given: readonly string[], io: Io): Promise<number> {
  try {
    const args = commandFirst(given);
    const [first] = args;
    if (first === undefined || (HELP.includes(first) && args.length === 1))
      io.stdout.write(listCommands(COMMANDS, columnsOf(io.stdout)));
    else if (VERSIONS.includes(first)) io.stdout.write(`${VERSION}\n`);
    else await runCommand(HELP.includes(first) ? [...args.slice(1), '--help'] : args, io);
    return 0;
  } catch (error) {
    const { message, exitCode } = describeError(error);
    const { red } = styleFor(io.stderr, io);
    const text = paragraphs(`portico: ${message}`, io.stderr);
    if (given.includes('--json')) io.stderr.write(`${printableJson(errorObject(error))}\n`);
    else io.stderr.write(`${text.replace('portico:', red)}\n`);
    return exitCode;
  }
}

/** Options that every command takes may stand before it. */
function commandFirst(args: readonly string[]): string[] {
  const count = args[0] === '--profile' ? 2 : Number(/^--(json$|profile=)/.test(args[0] ?? ''));
  if (count === 0 || args.length <= count) return [...args];
  return [...commandFirst(args.slice(count)), ...args.slice(0, count)];
}

async function runCommand(args: readonly string[], io: Io): Promise<void> {
  const columns = columnsOf(io.stdout);
  const command = findCommand(args);
  if (!command) {
    const group = COMMANDS.filter(({ name }) => name.startsWith(`${args[0]} `));
    const isHelp = args.slice(1).every((arg) => ['--help', '-h'].includes(arg));
    if (group.length > 0 && isHelp && args.length > 1)
      return void io.stdout.write(listCommands(group, columns));
    throw unknownCommand(args, group);
  }
  const { positionals, options } = parseArguments(command, args.slice(command.name.split(' ').length));
  if (options.flag('help')) return void io.stdout.write(describeCommand(command, columns));
  const session = async () => createSession(await createProfiles(io).find(options.text('profile')));
  try {
    await command.run({ io, positionals, options, session });
  } catch (error) {
    throw await explainRefusal(error, command, { io, session });
  }
}

function findCommand(args: readonly string[]): Command | undefined {
  return COMMANDS.find(({ name }) => name.split(' ').every((word, index) => args[index] === word));
}

function unknownCommand([first = '']: readonly string[], group: readonly Command[]): UsageError {
  if (group.length > 0)
    return new UsageError(
      `After ${first} comes one of ${group.map(({ name }) => name.split(' ').slice(1).join(' ')).join(', ')}.`,
    );
  const similar = nearest(first, FIRST_WORDS);
  return new UsageError(
    `There is no command ${first}.${similar ? ` Did you mean ${similar}?` : ''} Run portico --help for the list.`,
  );
}
