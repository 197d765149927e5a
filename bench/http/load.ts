import autocannon from 'autocannon';
import type { Context } from '../runner/benchmark.ts';
import { type Comparison, compareRounds } from '../shared/rounds.ts';

type Request = Pick<autocannon.Request, 'headers' | 'body'>;
export type Load = Pick<autocannon.Options, 'url' | 'method'> & {
  /** Divided among the connections, each of which repeats its own. */
  requests: readonly Request[];
};

const CONNECTIONS = 32;
/** The code of the service is several times as large as that of a bare route, and compiled later. */
const WARM_UP_SECONDS = 10;
const ROUND_SECONDS = 4;

export async function compareLoads(context: Context, own: Load, reference: Load): Promise<Comparison> {
  context.progress('warming up');
  await perSecond(reference, WARM_UP_SECONDS);
  await perSecond(own, WARM_UP_SECONDS);
  return compareRounds(context, {
    own: () => perSecond(own, ROUND_SECONDS),
    reference: () => perSecond(reference, ROUND_SECONDS),
  });
}

async function perSecond({ url, method = 'GET', requests }: Load, seconds: number): Promise<number> {
  let connection = 0;
  const result = await autocannon({
    url,
    connections: CONNECTIONS,
    duration: seconds,
    setupClient(client) {
      const own = requests.filter((_, index) => index % CONNECTIONS === connection % requests.length);
      connection += 1;
      client.setRequests(own.map((request) => ({ method, ...request })));
    },
  });
  const failed = result.non2xx + result.errors + result.timeouts;
  if (failed > 0) throw new Error(`${failed} of the calls to ${url} failed`);
  return result['2xx'] / result.duration;
}
