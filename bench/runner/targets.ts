/** Every figure that `npm run bench` prints, with the values it must and should reach. The first word is the benchmark. */
export type Target = {
  must?: number;
  aim?: number;
  /** Ratios of rates are better when higher; ratios of times, memory and bytes when lower. */
  better: 'higher' | 'lower';
  /** Of the value; a ratio without one. */
  unit?: 'MB' | 'bytes' | 'ms' | 'lost';
};

const atLeast = (must: number, aim: number) => ({ better: 'higher', must, aim }) as const;
const atMost = (must: number, aim: number, unit?: Target['unit']) =>
  ({ better: 'lower', must, aim, ...(unit && { unit }) }) as const;

export const TARGETS = {
  relay: atLeast(0.6, 0.8),
  'throughput one endpoint': atLeast(0.65, 0.8),
  'throughput five endpoints': atLeast(0.65, 0.8),
  overload: atLeast(0.85, 1),
  drain: atLeast(0.85, 1),
  'latency 200/s p50': atMost(2, 1.5),
  'latency 200/s p99': atMost(3, 2),
  'latency 500/s p50': atMost(2, 1.5),
  'latency 500/s p99': atMost(3, 2),
  'latency 2000/s p50': atMost(2, 1.5),
  'latency 2000/s p99': atMost(3, 2),
  'hanging two failing': atLeast(0.9, 1),
  'hanging two failing p99': atMost(1.5, 1.1),
  'hanging 100,000 waiting': atLeast(0.9, 1),
  'hanging 1,000 endpoints': atLeast(0.9, 1),
  'hanging 1,000 after restart': atLeast(0.9, 1),
  'history throughput': atLeast(0.9, 1),
  'history list p99': atMost(2, 1.2),
  'history filter p99': atMost(2, 1.2),
  'history get p99': atMost(2, 1.2),
  'history deep page p99': atMost(2, 1.2),
  'history rare event_type p99': atMost(2, 1.2),
  'history rare bank_guid p99': atMost(2, 1.2),
  'history object_guid p99': atMost(2, 1.2),
  'dispatchers 2': atLeast(1.8, 2),
  'dispatchers 4': atLeast(3.2, 4),
  nodes: { better: 'higher' },
  tokens: atLeast(0.55, 0.7),
  api: atLeast(0.85, 0.95),
  'memory 1 million waiting': atMost(50, 20, 'MB'),
  'memory 10,000 subscriptions': atMost(50, 20, 'MB'),
  'memory an hour at 1,000/s': atMost(50, 20, 'MB'),
  'wal batches': atMost(800, 600, 'bytes'),
  'wal single': atMost(1_100, 800, 'bytes'),
  'wal api + dispatch': atMost(1_300, 900, 'bytes'),
  'tenants p99': atMost(2, 1.5),
  'files upload': atLeast(0.5, 0.8),
  'files memory': atMost(100, 30, 'MB'),
  'files 50 at once': atMost(0, 0, 'lost'),
  hostile: atMost(50, 15, 'ms'),
} as const satisfies Record<string, Target>;

export type FigureName = keyof typeof TARGETS;

export type Verdict = 'aim reached' | 'must reached' | 'missed' | 'measured';

export function verdictOf({ must, aim, better }: Target, value: number): Verdict {
  if (must === undefined || aim === undefined) return 'measured';
  const reaches = (goal: number) => (better === 'higher' ? value >= goal : value <= goal);
  if (reaches(aim) && reaches(must)) return 'aim reached';
  return reaches(must) ? 'must reached' : 'missed';
}
