import { UsageError } from '../../infrastructure/runtime/startup-error.ts';
import { type Call, FILE_FIELD, type Field, kebab } from './calls.ts';
import { describeType } from './values.ts';

const INDENT = '  ';
const GAP = '  ';

function usageOf(call: Call): string {
  const fields = fieldsOf(call);
  const required = fields.filter((field) => field.required);
  const flags = required.map(({ name, schema }) => `--${kebab(name)} <${describeType(schema)}>`);
  const labels = call.positionals.map((positional) => positional.label);
  const more = call.body || fields.length > required.length ? ['[flags]'] : [];
  return ['Usage: portico operator', ...call.words, ...labels, ...flags, ...more].join(' ');
}

/** An error with the usage line of the call. */
export function misuse(call: Call, sentence: string): UsageError {
  return new UsageError(`${sentence}\n${usageOf(call)}`);
}

export function listCalls(calls: readonly Call[], baseUrl: string): string {
  const rows = calls.map(({ words, positionals, summary }) => [
    [...words, ...positionals.map((positional) => positional.label)].join(' '),
    summary,
  ]);
  return [
    'Usage: portico operator <call> [arguments]',
    '',
    `Calls of the service at ${baseUrl}:`,
    '',
    ...aligned(rows),
    '',
    'Run portico operator <call> --help for the arguments of a call.',
    '',
  ].join('\n');
}

export function describeCall(call: Call): string {
  const rows = [
    ...call.positionals.map(({ label, description }) => [label, 'text', description]),
    ...fieldsOf(call).map((field) => [
      `--${kebab(field.name)}`,
      describeType(field.schema),
      explanation(field),
    ]),
    ...(call.body
      ? [['--json', 'JSON', 'the whole body, or - to read it from standard input; flags override its fields']]
      : []),
  ];
  const about = [usageOf(call), '', call.summary, `${call.method} ${call.path}`, ''];
  return [...about, ...aligned(rows), ...(rows.length > 0 ? [''] : [])].join('\n');
}

function fieldsOf({ query, body, file }: Call): readonly Field[] {
  return [...(file ? [FILE_FIELD] : []), ...query, ...(body?.fields ?? [])];
}

function explanation({ required, description, schema }: Field): string {
  const byDefault = schema.default === undefined ? '' : `default ${JSON.stringify(schema.default)}`;
  return [required ? 'required' : '', description, byDefault].filter((part) => part !== '').join('; ');
}

function aligned(rows: readonly (readonly string[])[]): string[] {
  const widthOf = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0));
  return rows.map((row) =>
    `${INDENT}${row.map((cell, column) => cell.padEnd(widthOf(column))).join(GAP)}`.trimEnd(),
  );
}
