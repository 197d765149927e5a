import { COMMON_OPTIONS, type Command, usageOf } from './command.ts';
import { beside, wrap } from './output/layout.ts';

const GAP = 3;
const INDENT = '  ';

export function describeCommand(command: Command, columns: number): string {
  const options = Object.entries({ ...command.options, ...COMMON_OPTIONS }).map(
    ([name, { value, description }]) =>
      [`--${name}${value === undefined ? '' : ` <${value}>`}`, description] as const,
  );
  return [
    usageOf(command),
    '',
    ...wrap(command.summary, columns),
    ...(command.needsOrganizationKey ? ['Needs an Organization key.'] : []),
    '',
    'Options:',
    ...aligned(options, columns),
    '',
    'Examples:',
    ...command.examples.map((example) => `  ${example}`),
    '',
  ].join('\n');
}

export function listCommands(commands: readonly Command[], columns: number): string {
  return `Usage: portico <command> [options]\n\nCommands:\n${commandRows(commands, columns)}`;
}

export function commandRows(commands: readonly Command[], columns: number): string {
  const rows = commands.map(
    ({ name, positionals = [], summary }) =>
      [[name, ...positionals.map((each) => each.toUpperCase())].join(' '), summary] as const,
  );
  return [...aligned(rows, columns), '', 'Run portico <command> --help for options and examples.', ''].join(
    '\n',
  );
}

function aligned(rows: readonly (readonly [string, string])[], columns: number): string[] {
  const width = INDENT.length + Math.max(...rows.map(([first]) => first.length)) + GAP;
  return rows.map(([first, second]) => beside(`${INDENT}${first}`.padEnd(width), width, second, columns));
}
