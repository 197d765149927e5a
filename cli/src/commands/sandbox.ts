import { readFile } from 'node:fs/promises';
import type { Portico } from '../../../sdk/src/index.ts';
import type { Command, Context } from '../command.ts';
import { CliError, EXIT, UsageError } from '../failure.ts';
import { parseFixtures } from '../fixtures/fixture.ts';
import { runFixtures } from '../fixtures/run.ts';
import { scopesOf } from '../fixtures/scopes.ts';
import { NOT_TRIGGERED, needsBank, TRIGGERED_TYPES, triggerFixtures } from '../fixtures/triggers.ts';
import { follow } from '../listen/follow.ts';
import type { StreamedEvent } from '../listen/forward.ts';
import { EVENT_TYPE, field, type Item, printList, printObject, say } from '../output/print.ts';
import { nearest } from '../suggestion.ts';

const WAIT_MS = 60_000;

async function bankOf(portico: Portico, { io }: Context): Promise<string> {
  const [bank] = await portico.banks
    .list({ environment: 'sandbox' } as object, { signal: io.signal })
    .toArray({ limit: 1 });
  return bank?.guid ?? (await portico.banks.create({ name: 'Sandbox' }, { signal: io.signal })).guid;
}

function requireSandbox(environment: string): void {
  if (environment !== 'sandbox')
    throw new UsageError('Objects can be created in the sandbox only. Use a profile of the sandbox.');
}

/** The event of this type about one of the objects that were created. */
async function waitForEvent(
  portico: Portico,
  { io }: Context,
  { type, since, isWanted }: { type: string; since: Date; isWanted(event: StreamedEvent): boolean },
): Promise<StreamedEvent> {
  const found = new AbortController();
  let event: StreamedEvent | undefined;
  await follow(
    portico,
    { since },
    {
      types: [type],
      signal: AbortSignal.any([io.signal, found.signal, AbortSignal.timeout(WAIT_MS)]),
      async onEvent(each) {
        if (!isWanted(each)) return;
        event = each;
        found.abort();
      },
    },
  );
  io.signal.throwIfAborted();
  if (!event) throw new CliError(`${type} has not arrived within a minute.`, EXIT.unmet);
  return event;
}

function listTypes(context: Context): void {
  const types = [
    ...TRIGGERED_TYPES.map((event_type) => ({ event_type, can_be_triggered: true })),
    ...Object.entries(NOT_TRIGGERED).map(([event_type, reason]) => ({
      ...{ event_type, can_be_triggered: false, reason },
    })),
  ];
  const canBe = { title: 'Trigger', value: (item: Item) => (item.can_be_triggered ? 'yes' : 'no') };
  printList(context, types, [EVENT_TYPE, canBe, field('Reason')], '');
}

/** Before a key pair is needed, so that the list helps everyone. */
function checkType(type: string): void {
  if (TRIGGERED_TYPES.includes(type)) return;
  const reason = Object.hasOwn(NOT_TRIGGERED, type) ? NOT_TRIGGERED[type] : undefined;
  if (reason) throw new UsageError(`A key pair cannot cause ${type}. ${reason}`);
  const similar = nearest(type, TRIGGERED_TYPES);
  throw new UsageError(
    `There is no event type ${type} to trigger.${similar ? ` Did you mean ${similar}?` : ''}\nportico trigger lists them.`,
  );
}

const trigger: Command = {
  name: 'trigger',
  summary:
    'Create what is needed in the sandbox for an event of a type, and wait for the event. Without a type, list them.',
  positionals: ['[type]'],
  values: TRIGGERED_TYPES,
  needsOrganizationKey: true,
  examples: ['portico trigger', 'portico trigger transfer.completed', 'portico trigger trade.failed --json'],
  async run(context) {
    const { io, positionals } = context;
    const [type] = positionals;
    if (type === undefined) return listTypes(context);
    checkType(type);
    const { profile, withScopes } = await context.session();
    requireSandbox(profile.environment);
    const withoutBank = triggerFixtures(type, '');
    const portico = withScopes(
      'subscription_events:read',
      'banks:read',
      'banks:execute',
      ...scopesOf(withoutBank),
    );
    // The clock of the service counts.
    const since = await serviceTime(profile.url, io);
    const fixtures = triggerFixtures(type, needsBank(type) ? await bankOf(portico, context) : '');
    const guids = new Set<unknown>();
    await runFixtures(portico, fixtures, {
      ...{ signal: io.signal, now: io.now },
      onDone(name, { guid }) {
        if (!guids.has(guid)) say(context, `Created ${name} ${guid}`);
        guids.add(guid);
      },
    });
    say(context, `Waiting for ${type} …`);
    const event = await waitForEvent(portico, context, {
      ...{ type, since },
      isWanted: ({ object_guid: guid }) => guids.has(guid),
    });
    printObject(context, event);
  },
};

/** A little before now, by the `Date` of an answer. */
async function serviceTime(url: string, { signal, now }: Context['io']): Promise<Date> {
  const { headers } = await fetch(`${url}/healthz`, { signal }).catch(() => ({ headers: new Headers() }));
  const date = Date.parse(headers.get('date') ?? '');
  return new Date((Number.isNaN(date) ? now() : date) - 10_000);
}

const runFile: Command = {
  name: 'fixtures run',
  summary: 'Make the calls of a JSON file, one after the other.',
  positionals: ['file'],
  examples: [
    'portico fixtures run transfer.json',
    `echo '{"fixtures": [{"name": "bank", "method": "GET", "path": "/api/banks"}]}' > banks.json`,
  ],
  async run(context) {
    const { io, positionals } = context;
    const [file = ''] = positionals;
    const text = await readFile(file, 'utf8').catch((error: Error) => {
      throw new UsageError(`${file} cannot be read: ${error.message}`);
    });
    const fixtures = parseFixtures(text, file);
    const { withScopes } = await context.session();
    const answers = await runFixtures(withScopes(...scopesOf(fixtures)), fixtures, {
      ...{ signal: io.signal, now: io.now },
      onDone: (name) => say(context, `Done: ${name}`),
    });
    if (context.options.flag('json')) return printObject(context, Object.fromEntries(answers));
    const rows = [...answers].map(([name, answer]) => ({ ...answer, name }));
    printList(context, rows, [field('Name'), field('Guid'), field('State')], '');
  },
};

export const sandboxCommands = [trigger, runFile];
