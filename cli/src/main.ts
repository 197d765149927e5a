import { VERSION } from '../../sdk/src/version.ts';
import { type Command, parseArguments } from './command.ts';
import { COMMANDS } from './commands/commands.ts';
import { describeError, UsageError } from './failure.ts';
import { commandRows, describeCommand, listCommands } from './help.ts';
import type { Io } from './io.ts';
import { explainRefusal } from './organization-key.ts';
import { printable, printableJson, styleFor } from './output/style.ts';
import { createProfiles } from './profiles/profiles.ts';
import { createSession } from './session.ts';

/** The first words of the commands, for the command line of the service, which has them too. */
export const FIRST_WORDS: ReadonlySet<string> = new Set(
  COMMANDS.map(({ name }) => name.split(' ')[0] as string),
);

export const listPartnerCommands = () => commandRows(COMMANDS);

/** Runs a command and returns its exit code. Errors are printed in one sentence, as JSON with `--json`. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  try {
    const [first] = args;
    if (first === undefined || ['help', '--help', '-h'].includes(first)) {
      io.stdout.write(listCommands(COMMANDS));
      return 0;
    }
    if (first === '--version') {
      io.stdout.write(`${VERSION}\n`);
      return 0;
    }
    await runCommand(args, io);
    return 0;
  } catch (error) {
    const { message, exitCode } = describeError(error);
    const { red } = styleFor(io.stderr, io);
    if (args.includes('--json'))
      io.stderr.write(`${printableJson({ error: message, exit_code: exitCode })}\n`);
    else io.stderr.write(`${red('portico:')} ${message.split('\n').map(printable).join('\n')}\n`);
    return exitCode;
  }
}

async function runCommand(args: readonly string[], io: Io): Promise<void> {
  const command = findCommand(args);
  if (!command) {
    const group = COMMANDS.filter(({ name }) => name.startsWith(`${args[0]} `));
    const isHelp = args.slice(1).every((arg) => ['--help', '-h'].includes(arg));
    if (group.length > 0 && isHelp && args.length > 1) return void io.stdout.write(listCommands(group));
    throw new UsageError(
      group.length > 0
        ? `After ${args[0]} comes one of ${group.map(({ name }) => name.split(' ').slice(1).join(' ')).join(', ')}.`
        : `There is no command ${args[0]}. Run portico --help for the list.`,
    );
  }
  const { positionals, options } = parseArguments(command, args.slice(command.name.split(' ').length));
  if (options.flag('help')) return void io.stdout.write(describeCommand(command));
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
