import { setTimeout as delay } from 'node:timers/promises';
import type { Portico } from '../../sdk/src/index.ts';
import { CliError, EXIT } from './failure.ts';
import type { Item } from './output/print.ts';

/** One call. Its body may refer to answers before it: `${customer.guid}`. */
export type Fixture = {
  name: string;
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  body?: unknown;
  /** Waits until the object is in this state. */
  wait_for_state?: string;
};

const MAX_FIXTURES = 100;
const WAIT_MS = 60_000;
const POLL_EVERY_MS = 500;
const REFERENCE = /\$\{([\w-]+)((?:\.[\w-]+)+)\}/g;
const PATH = /^\/api\/([a-z_]+)(\/|$)/;

/** Reads `{"fixtures": [{"name", "method", "path", "body", "wait_for_state"}]}`. */
export function parseFixtures(text: string, source: string): Fixture[] {
  const invalid = (problem: string) => new CliError(`${source}: ${problem}.`, EXIT.usage);
  let fixtures: unknown;
  try {
    ({ fixtures } = JSON.parse(text));
  } catch (error) {
    throw invalid((error as Error).message);
  }
  if (!Array.isArray(fixtures) || fixtures.length === 0 || fixtures.length > MAX_FIXTURES)
    throw invalid(`fixtures must be a list of 1 to ${MAX_FIXTURES} calls`);
  for (const [index, each] of fixtures.entries()) {
    const { name, path, method = 'POST' } = Object(each);
    if (typeof name !== 'string' || !/^[\w-]+$/.test(name))
      throw invalid(`fixtures[${index}].name must be a word`);
    if (typeof path !== 'string' || !PATH.test(path))
      throw invalid(`fixtures[${index}].path must begin with /api/`);
    if (!['GET', 'POST', 'PATCH', 'DELETE'].includes(method))
      throw invalid(`fixtures[${index}].method must be GET, POST, PATCH or DELETE`);
  }
  return fixtures as Fixture[];
}

/** Scopes that the calls need. */
export function scopesOf(fixtures: readonly Fixture[]): string[] {
  const scopes = fixtures.flatMap(({ method = 'POST', path, wait_for_state: wait }) => {
    const [, resource = ''] = PATH.exec(path) ?? [];
    const verb = { GET: 'read', PATCH: 'write', POST: 'execute', DELETE: 'execute' }[method];
    return [`${resource}:${verb}`, ...(wait === undefined ? [] : [`${resource}:read`])];
  });
  return [...new Set(scopes)];
}

/** Makes the calls one after the other and returns their answers by name. */
export async function runFixtures(
  portico: Portico,
  fixtures: readonly Fixture[],
  { signal, now, onDone }: { signal: AbortSignal; now(): number; onDone(name: string, answer: Item): void },
): Promise<Map<string, Item>> {
  const answers = new Map<string, Item>();
  for (const { name, method = 'POST', path: given, body, wait_for_state: wait } of fixtures) {
    const path = resolve(given, answers);
    const route = `${method} ${path}` as 'POST /api/customers';
    const call = { ...(body === undefined ? {} : { body: resolve(body, answers) }), signal };
    let answer = (await portico.request(route, call as never)).data as Item;
    if (wait !== undefined) answer = await waitForState(portico, path, answer, wait, { signal, now });
    answers.set(name, answer);
    onDone(name, answer);
  }
  return answers;
}

async function waitForState(
  portico: Portico,
  path: string,
  { guid }: Item,
  state: string,
  { signal, now }: { signal: AbortSignal; now(): number },
): Promise<Item> {
  const givesUpAt = now() + WAIT_MS;
  const route = `GET ${path}/${guid}` as 'GET /api/customers';
  for (;;) {
    const object = (await portico.request(route, { signal })).data as unknown as Item;
    if (object.state === state) return object;
    if (now() > givesUpAt)
      throw new CliError(`${path}/${guid} is ${object.state} after a minute, not ${state}.`, EXIT.unmet);
    await delay(POLL_EVERY_MS, undefined, { signal });
  }
}

/** Replaces references in texts; a text that is one reference becomes its value. */
function resolve<T>(value: T, answers: ReadonlyMap<string, Item>): T {
  if (typeof value === 'string') {
    const [whole, name, fields] = new RegExp(`^${REFERENCE.source}$`).exec(value) ?? [];
    if (whole !== undefined) return lookUp(name ?? '', fields ?? '', answers) as T;
    return value.replace(REFERENCE, (_, first, rest) => String(lookUp(first, rest, answers))) as T;
  }
  if (Array.isArray(value)) return value.map((each) => resolve(each, answers)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, resolve(each, answers)])) as T;
}

function lookUp(name: string, fields: string, answers: ReadonlyMap<string, Item>): unknown {
  const found = fields
    .slice(1)
    .split('.')
    .reduce<unknown>((value, key) => (Object(value) as Item)[key], answers.get(name));
  if (found === undefined)
    throw new CliError(`\${${name}${fields}} refers to nothing before it.`, EXIT.usage);
  return found;
}
