import assert from 'node:assert/strict';
import { type KyselyPlugin, sql } from 'kysely';
import type { Queries } from '../../server/infrastructure/database/database.ts';

type PlanNode = Record<string, unknown> & { Plans?: PlanNode[] };

/** The cost of the last statement of `run`, and how it reads the table. Everything is rolled back. */
export async function explain(
  queries: Queries,
  table: string,
  run: (queries: Queries) => Promise<unknown>,
): Promise<{ buffers: number; scans: string[] }> {
  let plan: PlanNode | undefined;
  const explaining: KyselyPlugin = {
    transformQuery({ node }) {
      if (node.kind !== 'RawNode') return node;
      const [first = '', ...rest] = node.sqlFragments;
      const prefix = 'explain (analyze, buffers, format json) ';
      return { ...node, sqlFragments: [prefix + first, ...rest] };
    },
    async transformResult({ result }) {
      const [row] = result.rows as { 'QUERY PLAN': { Plan: PlanNode }[] }[];
      plan = row?.['QUERY PLAN'][0]?.Plan;
      return { ...result, rows: [] };
    },
  };
  const undo = new Error('undo');
  await queries
    .transaction()
    .execute(async (transaction) => {
      const explained = transaction.withPlugin(explaining) as unknown as Queries;
      // On a new connection, the first execution also reads the catalog.
      await sql`savepoint before_catalog`.execute(transaction);
      await run(explained);
      await sql`rollback to savepoint before_catalog`.execute(transaction);
      await run(explained);
      throw undo;
    })
    .catch((error: unknown) => {
      if (error !== undo) throw error;
    });
  assert.ok(plan);
  const buffers = Number(plan['Shared Hit Blocks']) + Number(plan['Shared Read Blocks']);
  const scans = nodesOf(plan)
    .filter((node) => node['Relation Name'] === table && /Scan/.test(String(node['Node Type'])))
    .map((node) => String(node['Node Type']));
  return { buffers, scans };
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}
