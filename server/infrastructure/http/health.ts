import Type from 'typebox';
import type { SchemaState } from '../database/migrate.ts';
import type { Timers } from '../runtime/clock.ts';
import { Failure } from '../runtime/failure.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { unwrap } from './errors.ts';
import { answers, viewSchema } from './requests/schemas.ts';
import type { HttpServer } from './server.ts';

const Status = viewSchema('HealthStatus', { status: Type.String({ example: 'ok' }) });

const METRICS_EXAMPLE = 'process_cpu_seconds_total 12.5\n';

type DatabaseChecks = { isReadOnly(): Promise<boolean>; schemaState(): Promise<SchemaState> };
type HealthDeps = DatabaseChecks & { timers: Timers };

/** A database that does not answer within this time is reported as unreachable. */
const READY_TIMEOUT_MS = 2_000;

const tags = ['Health'];

export function registerHealth(server: HttpServer, deps: HealthDeps): void {
  server.get(
    '/healthz',
    {
      schema: {
        operationId: 'getHealth',
        tags,
        summary: 'Check that the process is alive',
        response: answers({ 200: Status }),
      },
    },
    async () => ({ status: 'ok' }),
  );

  server.get(
    '/readyz',
    {
      schema: {
        operationId: 'getReadiness',
        tags,
        summary: 'Check that the database is reachable and writable and its schema is up to date',
        response: answers({ 200: Status }, 503),
      },
    },
    async () => unwrap(await readiness(deps)),
  );
}

export function registerMetrics(server: HttpServer, metrics: Metrics): void {
  server.get(
    '/metrics',
    {
      schema: {
        operationId: 'getMetrics',
        tags,
        summary: 'Get Prometheus metrics, without tenants in the labels',
        response: answers({
          200: {
            content: {
              'text/plain': { schema: Type.String({ title: 'Metrics', example: METRICS_EXAMPLE }) },
            },
          },
        }),
      },
    },
    async (_request, reply) => reply.type(metrics.contentType).send(await metrics.read()),
  );
}

async function readiness({ timers, ...checks }: HealthDeps): Promise<{ status: string } | Failure> {
  const late = Promise.withResolvers<undefined>();
  const cancel = timers.after(READY_TIMEOUT_MS, () => late.resolve(undefined));
  const state = await Promise.race([databaseState(checks).catch(() => undefined), late.promise]);
  cancel();
  if (state === undefined) return new Failure('database_unavailable', 'The database is not reachable');
  if (state === 'read-only')
    return new Failure('database_unavailable', 'The database is read-only; it may be a standby');
  if (state === 'behind')
    return new Failure('database_unavailable', 'The database schema is out of date; run portico migrate');
  return { status: 'ok' };
}

async function databaseState({
  isReadOnly,
  schemaState,
}: DatabaseChecks): Promise<SchemaState | 'read-only'> {
  return (await isReadOnly()) ? 'read-only' : schemaState();
}
