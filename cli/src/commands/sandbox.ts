import { readFile } from 'node:fs/promises';
import type { Portico } from '../../../sdk/src/index.ts';
import type { Command, Context } from '../command.ts';
import { CliError, EXIT, UsageError } from '../failure.ts';
import { type Fixture, parseFixtures, runFixtures, scopesOf } from '../fixtures.ts';
import { follow } from '../listen/follow.ts';
import type { StreamedEvent } from '../listen/forward.ts';
import { printObject, say } from '../output/print.ts';
import { TRIGGERED_TYPES, triggerFixtures } from '../triggers.ts';

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
    { lastEventId: undefined, since },
    {
      types: [type],
      signal: AbortSignal.any([io.signal, found.signal, AbortSignal.timeout(WAIT_MS)]),
      onConnected: () => undefined,
      onInterrupted: () => undefined,
      async onEvent(each) {
        if (!isWanted(each)) return;
        event = each;
        found.abort();
      },
      keep: async () => undefined,
    },
  );
  io.signal.throwIfAborted();
  if (!event) throw new CliError(`${type} has not arrived within a minute.`, EXIT.unmet);
  return event;
}

const trigger: Command = {
  name: 'trigger',
  summary: 'Create what is needed in the sandbox for an event of a type, and wait for the event.',
  positionals: ['type'],
  needsOrganizationKey: true,
  examples: ['portico trigger transfer.completed', 'portico trigger trade.failed --json'],
  async run(context) {
    const { io, positionals } = context;
    const [type = ''] = positionals;
    const { profile, withScopes } = await context.session();
    requireSandbox(profile.environment);
    if (!TRIGGERED_TYPES.includes(type))
      throw new UsageError(`${type} cannot be triggered. These can: ${TRIGGERED_TYPES.join(', ')}.`);
    const withoutBank = triggerFixtures(type, '');
    const portico = withScopes(
      'subscription_events:read',
      'banks:read',
      'banks:execute',
      ...scopesOf(withoutBank),
    );
    // The clock of the service counts.
    const since = await serviceTime(profile.url, io.now());
    const fixtures: Fixture[] = triggerFixtures(
      type,
      type === 'bank.created' ? '' : await bankOf(portico, context),
    );
    const guids = new Set<unknown>();
    await runFixtures(portico, fixtures, {
      ...{ signal: io.signal, now: io.now },
      onDone(name, { guid }) {
        guids.add(guid);
        say(context, `Created ${name} ${guid}`);
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
async function serviceTime(url: string, nowMs: number): Promise<Date> {
  const { headers } = await fetch(`${url}/healthz`).catch(() => ({ headers: new Headers() }));
  const date = Date.parse(headers.get('date') ?? '');
  return new Date((Number.isNaN(date) ? nowMs : date) - 10_000);
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
      throw new CliError(`${file} cannot be read: ${error.message}`);
    });
    const fixtures = parseFixtures(text, file);
    const { withScopes } = await context.session();
    const answers = await runFixtures(withScopes(...scopesOf(fixtures)), fixtures, {
      ...{ signal: io.signal, now: io.now },
      onDone: (name, { guid, state }) => say(context, `${name}  ${guid ?? ''}  ${state ?? ''}`.trimEnd()),
    });
    if (context.options.flag('json')) printObject(context, Object.fromEntries(answers));
  },
};

export const sandboxCommands = [trigger, runFile];
