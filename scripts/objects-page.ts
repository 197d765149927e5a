import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  endingsOf,
  firstStateOf,
  kindsOf,
  type Machine,
  pathTo,
  statesOf,
} from '../server/objects/machine.ts';
import { OBJECT_TYPES, type ObjectType, wordsOf } from '../server/objects/types.ts';
import { scopesFor } from '../server/tokens/scopes.ts';

/** `docs/partners/objects.md`, from the tables that the service itself uses. */
export function objectsPage(): string {
  return [INTRODUCTION, TOUR, ...OBJECT_TYPES.map(sectionOf)].join('\n\n');
}

const INTRODUCTION = `# Sandbox objects

For developers who build against the sandbox: create objects, choose how they end, know which events they cause.

<!-- Printed by \`node scripts/print-objects.ts\` from server/objects/; a test fails when it is stale. -->

All objects have the same three calls at \`/api/<objects>\`: \`POST\`, \`GET\` of one, and \`GET\` of a list. Some have
\`PATCH\` and \`DELETE\` too; their sections say so. The API reference at \`/docs\` describes every field.
[Webhooks](webhooks.md) explains how events arrive.

${tableOf([
  ['Environment', 'Objects come from', 'States change by'],
  ['sandbox', 'your `POST`', 'a simulator: one second in each state, by default'],
  ['production', 'the platform; changes by you return 422 `not_implemented`', 'reports of the platform'],
])}

- \`simulate\` in the body names the state in which a sandbox object ends. Without it the object takes the default path.
- The platform may report an object in any first state. After that only the transitions of the diagrams are accepted; any
  other returns 409 \`state_conflict\`.
- Every object has a bank, and a customer where the fields say so. A customer token sees the objects of its customer.
- In the dashboard, **Sandbox** lists and creates objects, with their customer in the same form. Each object has a page at
  \`/sandbox/<objects>/<guid>\` with its JSON, its states and its events.
- Up to 10 \`labels\` of at most 50 characters are free for your use.
- \`PATCH\` changes the fields that it names. \`null\` removes an optional field, \`[]\` the labels.
- [Lists](lists.md) explains pages and filters.

## Amounts

Amounts are integers in the smallest unit of the asset: 2500 is 25 dollars. Many clients round numbers above 2^53 − 1
(9007199254740991) without an error, so larger amounts are strings of digits:

${tableOf([
  ['Amount', 'In a request', 'In a response'],
  ['up to 2^53 − 1', '`2500` or `"2500"`', '`2500`'],
  ['above 2^53 − 1', '`"20000000000000000000"`, at most 38 digits', '`"20000000000000000000"`'],
  ['above 2^53 − 1 as a number', '400 `invalid_parameter`', '-'],
])}

If your assets have many decimals (ETH has 18), read amounts as a number or a string and convert both to a big integer.`;

/** Written by hand; a test runs its commands. */
const TOUR = readFileSync(join(import.meta.dirname, 'objects-tour.md'), 'utf8').trimEnd();

function sectionOf(type: ObjectType): string {
  const { name, plural, machine, fromQuote } = type;
  const title = wordsOf(plural);
  return [
    `## ${title.charAt(0).toUpperCase()}${title.slice(1)}`,
    machine && causesEvents(machine) ? `\`/api/${plural}\`, in events \`${name}\`.` : `\`/api/${plural}\`.`,
    scopesOf(type),
    fieldsOf(type),
    ...(NOTES[name] ?? []),
    ...(fromQuote ? [quoteOf(fromQuote)] : []),
    ...(machine ? statesSectionOf(name, machine) : [`A ${name} has no states and causes no events.`]),
  ].join('\n\n');
}

/** Facts about a type that its tables do not contain. */
const NOTES: Record<string, readonly string[]> = {
  customer: [
    'A `name` is either `{"full": "Ada Lovelace"}` or `{"first": "Ada", "middle": "King", "last": "Lovelace"}`, where `middle`\n' +
      'is optional. A plain string is accepted and returned as `full`. `phone` is in E.164 form, for example `+14155550100`.',
  ],
  external_bank_account: [
    '`PATCH {"state": "refresh"}` returns a completed, failed or expired one to `storing`; `simulate` chooses another ending,\n' +
      'also of one that is `storing`.\n' +
      '`DELETE` starts the deletion; a repeated `DELETE` changes nothing. A deleting or deleted one cannot be referenced.',
  ],
  deposit_address: [
    'It belongs to the customer of its account and has the asset of the account, which cannot be a fiat asset of\n' +
      '`GET /api/assets`. Sandbox addresses receive nothing: those for BTC are of the test network (`tb1q…`), those for ETH,\n' +
      'USDC and USDT start with `0x5a5a5a5a`, those for SOL with `Sandbox`, all others with `sandbox-`.',
  ],
  workflow: [
    '`link_token_update` requires `external_bank_account_guid`. `redirect_uri` must be an HTTPS URL.',
  ],
};

function scopesOf({ plural, changeable, machine }: ObjectType): string {
  const uses = [
    [`${plural}:execute`, machine?.deletion ? 'to create and delete' : 'to create'],
    [`${plural}:read`, 'to read'],
    ...(changeable ? [[`${plural}:write`, 'to change']] : []),
  ] as const;
  const ofCustomers = scopesFor('customer');
  const others = uses.map(([scope]) => scope).filter((scope) => !ofCustomers.includes(scope as string));
  const except = others.length === 0 ? '' : `; customer tokens cannot hold \`${others.join('`, `')}\``;
  return `Scopes: ${uses.map(([scope, use]) => `\`${scope}\` ${use}`).join(', ')}${except}.`;
}

function quoteOf({ required }: NonNullable<ObjectType['fromQuote']>): string {
  const names = required.map((field) => `\`${field}\``).join(', ');
  return `With \`quote_guid\` leave out ${names} and \`customer_guid\`: [the quote](trading.md) has them.`;
}

function fieldsOf({ details, input = details, customer, generated, changeable = [] }: ObjectType): string {
  const { required = [], properties } = input as {
    required?: readonly string[];
    properties: Record<string, { enum?: readonly string[] }>;
  };
  const names = Object.keys(input.properties).map((field) => [field, required.includes(field)] as const);
  const fields = [
    ...names,
    ...(customer === 'itself' ? [] : [['customer_guid', customer === 'required'] as const]),
  ];
  const listed = (wanted: boolean) =>
    fields
      .filter(([, isRequired]) => isRequired === wanted)
      .map(([field]) => `\`${field}\`${meaningOf(field, properties[field]?.enum)}`)
      .join(', ');
  const optional = listed(false);
  const quoted = (names: readonly string[]) => names.map((field) => `\`${field}\``).join(', ');
  const changes = changeable.filter((field) => field !== 'state');
  return [
    `Required: ${listed(true)}.`,
    ...(optional === '' ? [] : [`Optional: ${optional}.`]),
    ...(generated
      ? [`Added in the state \`${generated.state}\`: ${quoted(Object.keys(generated.properties))}.`]
      : []),
    ...(changes.length === 0 ? [] : [`\`PATCH\` changes: ${quoted(changes)}.`]),
  ].join(' ');
}

/** The allowed values, and when the field may be left out. */
function meaningOf(field: string, choices: readonly string[] = []): string {
  if (field === 'customer_guid') return ' (implied by a customer token)';
  if (field === 'plan_guid') return ' (a completed plan; the execution gets its customer)';
  return choices.length === 0 ? '' : ` (${choices.map((choice) => `\`${choice}\``).join(', ')})`;
}

function statesSectionOf(name: string, machine: Machine): string[] {
  const paths = [undefined, ...endingsOf(machine)].map((ending) => [
    ending === undefined ? 'default' : `\`simulate: ${ending}\``,
    pathTo(machine, ending).join(' → '),
  ]);
  return [diagramOf(machine), tableOf([['Sandbox', 'Path'], ...paths]), eventsOf(name, machine)];
}

/** Time-outs are allowed moves too, so the arrow is drawn once. */
function diagramOf(machine: Machine): string {
  const arrows = Object.entries(machine.transitions).flatMap(([from, targets]) =>
    targets.map((to) => {
      const timeout = machine.timeouts?.[from];
      const label = timeout?.to === to ? `: in sandbox after ${timeout.afterMs / 3_600_000} hours` : '';
      return `  ${from} --> ${to}${label}`;
    }),
  );
  const ends = statesOf(machine).filter((state) => machine.transitions[state]?.length === 0);
  return [
    '```mermaid',
    'stateDiagram-v2',
    `  [*] --> ${firstStateOf(machine)}`,
    ...arrows,
    ...ends.map((state) => `  ${state} --> [*]`),
    '```',
  ].join('\n');
}

function causesEvents(machine: Machine): boolean {
  return statesOf(machine).some((state) => kindsOf(machine, undefined, state).length > 0);
}

function eventsOf(name: string, machine: Machine): string {
  if (!causesEvents(machine)) return 'No state causes an event.';
  if (machine.derived) return derivedEventsOf(name, machine);
  const silent = statesOf(machine).filter((state) => kindsOf(machine, undefined, state).length === 0);
  const except = silent.length === 0 ? '' : `, except \`${silent.join('` and `')}\``;
  return `Every state causes an event when it is reached: \`${name}.<state>\`${except}.`;
}

function derivedEventsOf(name: string, machine: Machine): string {
  const moves = Object.entries(machine.transitions).flatMap(([from, targets]) =>
    targets.map((to) => ({ from, to, kinds: kindsOf(machine, from, to) })),
  );
  const announced = moves.filter(({ kinds }) => kinds.length > 0);
  const rows = announced.map(({ from, to, kinds }) => [
    `${from} → ${to}`,
    kinds.map((kind) => `\`${name}.${kind}\``).join(', '),
  ]);
  return [
    'The state is derived from the balance, so it cannot be reported. Only these transitions cause events:',
    tableOf([['Transition', 'Events'], ...rows]),
  ].join('\n\n');
}

/** Each column as wide as its widest cell, as the formatter wants it. */
function tableOf(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const lineOf = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const [head, ...body] = rows.map((row) =>
    lineOf(row.map((cell, column) => cell.padEnd(widths[column] ?? 0))),
  );
  return [head, lineOf(widths.map((width) => '-'.repeat(width))), ...body].join('\n');
}
