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

/** `docs/objects.md`, from the tables that the service itself works by. */
export function objectsPage(): string {
  return [INTRODUCTION, TOUR, ...OBJECT_TYPES.map(sectionOf)].join('\n\n');
}

const INTRODUCTION = `# Objects

<!-- Printed by \`node scripts/print-objects.ts\` from server/objects/; a test fails when it is stale. -->

The objects of the platform as a partner sees them: what they have, the states they go through, and the events that tell
of it. \`POST\`, \`GET\` of one and \`GET\` of a list are the same for all of them, at \`/api/<objects>\`; the reference at
\`/docs\` describes every field. [Webhooks](webhooks.md) tells how the events arrive.

**In sandbox you create them**, and a simulator takes each through its states: a second in each
(\`PORTICO_SIMULATOR_DELAY\`), every change with its event. \`simulate\` names the state in which it is to end; without it an
object takes the first of the ways listed below. One that ends before the usual end stays there.

**In production they come from the platform**: \`POST\` is 422 \`not_implemented\`. What the platform reports
(\`PUT /operator/objects/<object>/<guid>\`, in both environments) may begin in any state, and from there only moves along
the arrows: anything else is 409 \`state_conflict\`.

Whoever creates or reports an object gives it a bank, and a customer where it has one; a customer's token sees the
objects of its customer alone. Up to 16 \`labels\` are yours to choose.`;

/** Written by hand, and run by a test as it stands. */
const TOUR = readFileSync(join(import.meta.dirname, 'objects-tour.md'), 'utf8').trimEnd();

function sectionOf(type: ObjectType): string {
  const { name, plural, machine } = type;
  const title = wordsOf(plural);
  return [
    `## ${title.charAt(0).toUpperCase()}${title.slice(1)}`,
    machine ? `\`/api/${plural}\`, in events \`${name}\`.` : `\`/api/${plural}\`.`,
    scopesOf(type),
    fieldsOf(type),
    ...(machine ? lifeOf(name, machine) : ['They have no states, and no event tells of them.']),
  ].join('\n\n');
}

function scopesOf({ plural }: ObjectType): string {
  const [create, show] = [`${plural}:execute`, `${plural}:read`];
  const ofCustomers = scopesFor('customer');
  const others = [create, show].filter((scope) => !ofCustomers.includes(scope));
  const except = others.length === 0 ? '' : `; a customer's token never holds \`${others.join('`, `')}\``;
  return `Scopes: \`${create}\` to create, \`${show}\` to see${except}.`;
}

function fieldsOf({ details, customer }: ObjectType): string {
  const { required = [], properties } = details as {
    required?: readonly string[];
    properties: Record<string, { enum?: readonly string[] }>;
  };
  const names = Object.keys(details.properties).map((field) => [field, required.includes(field)] as const);
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
  return `Required: ${listed(true)}.${optional === '' ? '' : ` Optional: ${optional}.`}`;
}

/** What it may be, where that is a choice; and who need not give it. */
function meaningOf(field: string, choices: readonly string[] = []): string {
  if (field === 'customer_guid') return ' (a customer’s token has its own)';
  if (field === 'plan_guid') return ' (a completed plan, whose customer is the execution’s too)';
  return choices.length === 0 ? '' : ` (${choices.map((choice) => `\`${choice}\``).join(', ')})`;
}

function lifeOf(name: string, machine: Machine): string[] {
  const ways = [undefined, ...endingsOf(machine)].map((ending) => [
    ending === undefined ? 'by default' : `\`simulate: ${ending}\``,
    pathTo(machine, ending).join(' → '),
  ]);
  return [diagramOf(machine), tableOf([['Sandbox', 'Way'], ...ways]), toldOf(name, machine)];
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

function toldOf(name: string, machine: Machine): string {
  if (!machine.kindsOf) return `Every state is told when it is reached: \`${name}.<state>\`.`;
  const moves = Object.entries(machine.transitions).flatMap(([from, targets]) =>
    targets.map((to) => ({ from, to, kinds: kindsOf(machine, from, to) })),
  );
  const told = moves.filter(({ kinds }) => kinds.length > 0);
  const rows = told.map(({ from, to, kinds }) => [
    `${from} → ${to}`,
    kinds.map((kind) => `\`${name}.${kind}\``).join(', '),
  ]);
  return [
    'The state follows from the details, so it is not reported. Not every move is told:',
    tableOf([['Move', 'Told by'], ...rows]),
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
