import { type Config, readConfig } from './infrastructure/config/config.ts';
import { startupErrorOf } from './infrastructure/database/failures.ts';
import { UsageError } from './infrastructure/runtime/startup-error.ts';

/** The command line. Commands are loaded when called, so that `--help` answers at once. */
const HELP = `Usage: portico <command>

  serve      the API, the background work and, unless PORTICO_DATABASE_URL is set,
             an embedded PostgreSQL: everything in one process
  api        only the HTTP API and the dashboard, on a shared database
  dispatch   only the sending of webhooks and other background work, on a shared database
  migrate    bring the database to this version
  config     print the effective settings, secrets hidden
  operator   call the operator API of a running service (portico operator --help)

Settings are environment variables: portico config lists them.

Commands for partners, of a running service:

`;

type Command = (config: Config, args: readonly string[]) => void | Promise<void>;

const commands: Record<string, () => Promise<Command>> = {
  serve: async () => (await import('./commands/serve.ts')).serve,
  api: async () => (await import('./commands/api.ts')).api,
  dispatch: async () => (await import('./commands/api.ts')).dispatch,
  migrate: async () => (await import('./commands/migrate.ts')).migrate,
  config: async () => (await import('./commands/show-config.ts')).showConfig,
  operator: async () => (await import('./commands/operator.ts')).operator,
};

const HELP_FLAGS = ['--help', '-h'];
const [name = '--help', ...args] = process.argv.slice(2);
const load = Object.hasOwn(commands, name) ? commands[name] : undefined;

if (asksForHelp()) {
  const { listPartnerCommands } = await import('../cli/src/main.ts');
  process.stdout.write(HELP + listPartnerCommands(process.stdout));
} else if (load) await run(load);
else await runPartnerCommand();

/** The commands of partners and the calls of `operator` have help of their own. */
function asksForHelp(): boolean {
  const [word] = args;
  if (['help', ...HELP_FLAGS].includes(name)) return word === undefined || Object.hasOwn(commands, word);
  return load !== undefined && name !== 'operator' && HELP_FLAGS.includes(args[0] ?? '');
}

/** Settings of the service are not read: a partner has none. An unknown command is refused there, with a suggestion. */
async function runPartnerCommand(): Promise<void> {
  const [cli, { systemIo }] = await Promise.all([import('../cli/src/main.ts'), import('../cli/src/io.ts')]);
  process.exitCode = await cli.run([name, ...args], systemIo());
}

async function run(loadCommand: () => Promise<Command>): Promise<void> {
  try {
    if (name !== 'operator' && args.length > 0)
      throw new UsageError(`The command ${name} takes no arguments; settings are environment variables.`);
    // Before the command is loaded, so that invalid settings are reported at once.
    const config = readConfig(process.env);
    const command = await loadCommand();
    await command(config, args);
  } catch (error) {
    const reason = startupErrorOf(error);
    if (!reason) throw error;
    process.stderr.write(`portico: ${reason.message}\n`);
    process.exitCode = reason.exitCode;
  }
}
