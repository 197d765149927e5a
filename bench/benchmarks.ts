import { benchFiles } from './files/main.ts';
import { benchHostile } from './hostile/main.ts';
import { benchApi } from './http/api.ts';
import { benchTenants } from './http/tenants.ts';
import { benchTokens } from './http/tokens.ts';
import type { Benchmark } from './runner/benchmark.ts';
import { benchHistory } from './scale/history.ts';
import { benchMemory } from './scale/memory.ts';
import { benchDispatchers } from './webhooks/dispatchers.ts';
import { benchDrain } from './webhooks/drain.ts';
import { benchHanging } from './webhooks/hanging.ts';
import { benchLatency } from './webhooks/latency.ts';
import { benchNodes } from './webhooks/nodes.ts';
import { benchOverload } from './webhooks/overload.ts';
import { benchRelay } from './webhooks/relay.ts';
import { benchThroughput } from './webhooks/throughput.ts';
import { benchWal } from './webhooks/wal.ts';

/** In the order in which `npm run bench` runs them. */
export const BENCHMARKS: Readonly<Record<string, Benchmark>> = {
  relay: {
    about: 'events reported one by one, until recorded ÷ a bare Fastify route that posts each on',
    limitMinutes: 10,
    run: benchRelay,
  },
  throughput: {
    about: 'events reported in batches, deliveries/s until recorded ÷ a bare loop of POSTs',
    limitMinutes: 15,
    run: benchThroughput,
  },
  overload: {
    about: '100,000 events as fast as they are accepted ÷ at a rate that is delivered at once',
    limitMinutes: 15,
    run: benchOverload,
  },
  drain: {
    about: '100,000 deliveries that waited for an endpoint ÷ new events',
    limitMinutes: 20,
    run: benchDrain,
  },
  latency: {
    about: 'milliseconds from the call to the arrival ÷ those of the bare route',
    limitMinutes: 10,
    run: benchLatency,
  },
  hanging: {
    about: 'healthy endpoints beside failing ones ÷ the same without',
    limitMinutes: 30,
    run: benchHanging,
  },
  history: {
    about: 'with 5 million deliveries of history ÷ with hardly any',
    limitMinutes: 45,
    run: benchHistory,
  },
  dispatchers: {
    about: 'two and four dispatch processes ÷ one, to an endpoint that takes 50 ms',
    limitMinutes: 10,
    run: benchDispatchers,
  },
  nodes: {
    about: '2 api + 2 dispatch on one PostgreSQL ÷ one serve',
    limitMinutes: 15,
    run: benchNodes,
  },
  tokens: {
    about: 'POST /oauth/token of many clients ÷ a bare JSON POST with one ES256 signature',
    limitMinutes: 5,
    run: benchTokens,
  },
  api: {
    about: 'GET of one object with a token ÷ a bare route with the same query',
    limitMinutes: 5,
    run: benchApi,
  },
  memory: { about: 'growth of the memory of one serve', limitMinutes: 40, run: benchMemory },
  wal: { about: 'bytes of the write-ahead log for each delivery', limitMinutes: 20, run: benchWal },
  tenants: {
    about: "one tenant's p99 while another floods lists ÷ alone",
    limitMinutes: 10,
    run: benchTenants,
  },
  files: {
    about: 'an upload of 1 GiB ÷ node:http piping it to the same disk; memory; 50 uploads at once',
    limitMinutes: 20,
    run: benchFiles,
  },
  hostile: {
    about: 'slowest response of /healthz during the most expensive requests - idle',
    limitMinutes: 30,
    run: benchHostile,
  },
};
