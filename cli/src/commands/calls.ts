import { addAbortSignal } from 'node:stream';
import { text } from 'node:stream/consumers';
import { RESOURCE_NAMES } from '../../../sdk/src/generated/resources.ts';
import { InvalidScopeError } from '../../../sdk/src/index.ts';
import type { Command, Context } from '../command.ts';
import { UsageError } from '../failure.ts';
import { scopesOf } from '../fixtures/scopes.ts';
import { printableJson } from '../output/style.ts';
import { nearest } from '../suggestion.ts';

const PATH = /^\/api\/[a-z_]+(\/|$)/;

/** `transfers` is short for `/api/transfers`. Dot segments are resolved, as by the request. */
function pathOf(given: string): string {
  const path = given.startsWith('/api/') ? given : `/api/${given.replace(/^\//, '')}`;
  const { pathname, search } = new URL(path, 'http://localhost');
  if (!PATH.test(pathname))
    throw new UsageError('PATH must be a path of the API, such as transfers or /api/transfers?state=failed.');
  return `${pathname}${search}`;
}

async function bodyOf({ io, options }: Context): Promise<unknown> {
  const given = options.text('data');
  if (given === undefined) return undefined;
  try {
    return JSON.parse(given === '-' ? await text(addAbortSignal(io.signal, io.stdin)) : given, asWritten);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new UsageError(`--data is not valid JSON: ${error.message}.`);
  }
}

/** ECMAScript 2026; not in TypeScript's library yet. */
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };

/** Numbers are sent as they were written, not as JavaScript rounds them. */
function asWritten(_name: string, value: unknown, { source }: { source?: string } = {}): unknown {
  return typeof value === 'number' && source !== undefined ? rawJSON(source) : value;
}

/** The service refuses the scope of a resource that does not exist, before the call. */
function explainScope(error: unknown, [scope = '']: readonly string[]): unknown {
  const [resource = ''] = scope.split(':');
  const isKnown = (RESOURCE_NAMES as readonly string[]).includes(resource);
  if (!(error instanceof InvalidScopeError) || isKnown) return error;
  const similar = nearest(resource, RESOURCE_NAMES);
  return similar ? new UsageError(`There is no /api/${resource}. Did you mean ${similar}?`) : error;
}

const DATA = { value: 'json', description: 'body of the call; - reads it from standard input' };

function callCommand(
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  command: Pick<Command, 'summary' | 'options' | 'examples'>,
): Command {
  return {
    ...{ ...command, name: method.toLowerCase(), positionals: ['path'] },
    async run(context) {
      const { io, positionals } = context;
      const path = pathOf(positionals[0] ?? '');
      const body = await bodyOf(context);
      const { withScopes } = await context.session();
      const scopes = scopesOf([{ name: method, method, path, body }]);
      const call = { ...(body === undefined ? {} : { body }), signal: io.signal };
      const { data } = await withScopes(...scopes)
        .request(`${method} ${path}` as 'GET /api/customers', call as object)
        .catch((error) => {
          throw explainScope(error, scopes);
        });
      if (data !== undefined) io.stdout.write(`${printableJson(data, 2)}\n`);
    },
  };
}

export const callCommands: readonly Command[] = [
  callCommand('GET', {
    summary: 'Read an object or a list of the API, as JSON. The token gets the scope that the call needs.',
    examples: ['portico get "transfers?state=failed"', 'portico get /api/customers/0199e5a4…'],
  }),
  callCommand('POST', {
    summary: 'Create an object by the API.',
    options: { data: DATA },
    examples: [
      `portico post customers --data '{"type": "individual", "bank_guid": "0199e5a0…"}'`,
      'portico post transfers --data - < transfer.json',
    ],
  }),
  callCommand('PATCH', {
    summary: 'Change an object by the API.',
    options: { data: DATA },
    examples: [`portico patch customers/0199e5a4… --data '{"email": "ada@example.com"}'`],
  }),
  callCommand('DELETE', {
    summary: 'Delete an object by the API.',
    examples: ['portico delete files/0199e5a4…'],
  }),
];
