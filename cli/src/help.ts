import { COMMON_OPTIONS, type Command, usageOf } from './command.ts';

const GAP = 3;

export function describeCommand(command: Command): string {
  const options = Object.entries({ ...command.options, ...COMMON_OPTIONS }).map(
    ([name, { value, description }]) =>
      [`--${name}${value === undefined ? '' : ` <${value}>`}`, description] as const,
  );
  return [
    usageOf(command),
    '',
    command.summary,
    ...(command.needsOrganizationKey ? ['Needs an Organization key.'] : []),
    '',
    'Options:',
    ...aligned(options),
    '',
    'Examples:',
    ...command.examples.map((example) => `  ${example}`),
    '',
  ].join('\n');
}

export function listCommands(commands: readonly Command[]): string {
  return `Usage: portico <command> [options]\n\nCommands:\n${commandRows(commands)}`;
}

export function commandRows(commands: readonly Command[]): string {
  const rows = commands.map(
    ({ name, positionals = [], summary }) =>
      [[name, ...positionals.map((each) => each.toUpperCase())].join(' '), summary] as const,
  );
  return [...aligned(rows), '', 'Run portico <command> --help for options and examples.', ''].join('\n');
}

function aligned(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([first]) => first.length)) + GAP;
  return rows.map(([first, second]) => `  ${first.padEnd(width)}${second}`.trimEnd());
}
