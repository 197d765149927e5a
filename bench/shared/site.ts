import { join } from 'node:path';
import { Pool } from 'undici';
import { migrate, type NodeProcess, type Role, spawnNode } from './node-process.ts';
import { startPostgres } from './postgres.ts';

export type Site = Awaited<ReturnType<typeof startSite>>;
export type Body = Record<string, unknown>;

export const OPERATOR_TOKEN = 'the-operator-token-of-the-benchmark';

type Options = {
  /** The processes that share the database; one `serve` by default. */
  nodes?: readonly Role[];
  settings?: Readonly<Record<string, string>>;
  postgres?: Readonly<Record<string, string>>;
};

/** The service on its own PostgreSQL, on this machine only. */
export async function startSite(
  resources: AsyncDisposableStack,
  { nodes: roles = ['serve'], settings: more = {}, postgres: postgresSettings = {} }: Options = {},
) {
  const postgres = await startPostgres(resources, postgresSettings);
  const { folder, url: databaseUrl, ownerUrl, query, queryAll } = postgres;
  const settings = {
    PORTICO_DATABASE_URL: databaseUrl,
    PORTICO_MIGRATION_DATABASE_URL: ownerUrl,
    PORTICO_MASTER_KEY: 'b2'.repeat(32),
    PORTICO_OPERATOR_TOKEN: OPERATOR_TOKEN,
    PORTICO_DATA_DIR: join(folder, 'data'),
    PORTICO_ALLOWLIST_POLICY: 'optional',
    PORTICO_WEBHOOK_ALLOW_PRIVATE: 'true',
    PORTICO_LOG_LEVEL: 'error',
    ...more,
  };
  await migrate(settings);
  const nodes: NodeProcess[] = [];
  resources.defer(async () => void (await Promise.all(nodes.map((node) => node.stop()))));
  const addNode = async (role: Role) => {
    if (resources.disposed) throw new Error(`stopped before the start of ${role}`);
    const node = await spawnNode(role, settings);
    nodes.push(node);
    await node.untilReady();
    return node;
  };
  for (const role of roles) await addNode(role);
  const entrances = nodes.filter(({ role }) => role !== 'dispatch');
  const [entrance] = entrances;
  if (!entrance) throw new Error('a site needs serve or api');
  const pools = { main: new Pool(entrance.url), operator: new Pool(entrance.operatorUrl) };
  resources.defer(() => Promise.all([pools.main.destroy(), pools.operator.destroy()]).then(() => {}));

  async function call(
    method: 'GET' | 'POST',
    path: string,
    bearer: string | undefined,
    payload?: object,
  ): Promise<Body> {
    const pool = path.startsWith('/operator/') ? pools.operator : pools.main;
    const { statusCode, body } = await pool.request({
      method,
      path,
      headers: {
        'content-type': 'application/json',
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      },
      body: payload === undefined ? null : JSON.stringify(payload),
    });
    const answer = (await body.json()) as Body;
    if (statusCode >= 300) throw new Error(`${method} ${path}: ${statusCode} ${JSON.stringify(answer)}`);
    return answer;
  }

  return {
    url: entrance.url,
    operatorUrl: entrance.operatorUrl,
    /** Of every process that accepts events. */
    eventUrls: entrances.map(({ operatorUrl }) => `${operatorUrl}/operator/events`),
    folder,
    databaseUrl,
    query,
    queryAll,
    call,
    addNode,
    operate: (method: 'GET' | 'POST', path: string, payload?: object) =>
      call(method, `/operator${path}`, OPERATOR_TOKEN, payload),
    /** The sum over all processes. */
    async metric(name: string): Promise<number> {
      const values = await Promise.all(nodes.map((node) => node.metric(name)));
      return values.reduce((sum, value) => sum + value, 0);
    },
    async removeNode(node: NodeProcess): Promise<void> {
      nodes.splice(nodes.indexOf(node), 1);
      await node.stop();
    },
    async restart(): Promise<void> {
      for (const node of nodes) await node.restart();
    },
  };
}
