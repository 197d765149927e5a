import autocannon from 'autocannon';

export type Load = Pick<autocannon.Options, 'url' | 'method' | 'headers' | 'body'>;

const CONNECTIONS = 32;
const WARM_UP_SECONDS = 2;
const ROUND_SECONDS = 4;
const ROUNDS = 5;

/**
 * Runs the service and the reference alternately, so that other load on the machine affects both; the ratio is the
 * median over the rounds.
 */
export async function compare({
  title,
  ours,
  reference,
  must,
  aim,
}: {
  title: string;
  ours: Load;
  reference: Load;
  must: number;
  aim: number;
}): Promise<boolean> {
  process.stdout.write(`\n${title}\n`);
  await perSecond(reference, WARM_UP_SECONDS);
  await perSecond(ours, WARM_UP_SECONDS);
  const ratios: number[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const bare = await perSecond(reference, ROUND_SECONDS);
    const own = await perSecond(ours, ROUND_SECONDS);
    ratios.push(own / bare);
    const figures = `portico ${Math.round(own)}/s, bare ${Math.round(bare)}/s, ratio ${(own / bare).toFixed(2)}`;
    process.stdout.write(`  round ${round} of ${ROUNDS}: ${figures}\n`);
  }
  const median = ratios.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
  const verdict = median >= aim ? 'aim reached' : median >= must ? 'enough' : 'TOO SLOW';
  process.stdout.write(`  ratio ${median.toFixed(2)} (must ${must}, aim ${aim}): ${verdict}\n`);
  return median >= must;
}

async function perSecond(load: Load, seconds: number): Promise<number> {
  const result = await autocannon({ ...load, connections: CONNECTIONS, duration: seconds });
  const failed = result.non2xx + result.errors + result.timeouts;
  if (failed > 0) throw new Error(`${failed} of the calls to ${load.url} failed`);
  return result['2xx'] / result.duration;
}
