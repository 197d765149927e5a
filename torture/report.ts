import { answersDuring } from './answers.ts';
import { explainAll } from './explanations.ts';
import type { Fault } from './plan.ts';
import type { Fate } from './sent.ts';
import { type Evidence, problemsIn } from './verdict.ts';

const NUMBER = new Intl.NumberFormat('en');
const format = (value: number) => NUMBER.format(value);

/** Minutes and seconds since the start. */
export function clockText(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  return `${String(Math.floor(seconds / 60)).padStart(2, '0')}:${String(seconds % 60).padStart(2, '0')}`;
}

export type Progress = {
  acknowledged: number;
  received: number;
  inFlight: number;
  refused: number;
  down: readonly string[];
};

export function describeProgress({ acknowledged, received, inFlight, refused, down }: Progress): string {
  const parts = [
    `${format(acknowledged)} acknowledged`,
    `${format(received)} received`,
    `${format(inFlight)} calls open`,
    `${format(refused)} × 503`,
    ...(down.length > 0 ? [`down: ${down.join(', ')}`] : []),
  ];
  return parts.join(' · ');
}

export type Figures = Evidence & {
  seed: number;
  rate: number;
  faultsMs: number;
  drainMs: number;
  lostAnswers: number;
  unreachable: number;
  acceptedBefore: number;
  /** Of the faults that the plan had and this machine does not allow. */
  skipped: readonly Fault[];
  noDiskReason: string | undefined;
  errors: ReadonlyMap<string, number>;
};

const count = <T>(values: Iterable<T>): [T, number][] =>
  [...Map.groupBy(values, (value) => value)].map(([value, all]) => [value, all.length]);
const inWords = (counted: Iterable<readonly [string, number]>) =>
  [...counted].map(([word, times]) => `${word} ${format(times)}`).join(', ') || 'none';

/** The summary at the end of a run. */
export function describeRun(figures: Figures): string {
  const { comparison, sent, answers, outages, faults, ends, errors } = figures;
  const fates = ({ fate }: { fate: Fate }) => fate;
  const events = new Map(count(sent.events.map(fates)));
  const transfers = new Map(count(sent.transfers.map(fates)));
  const { byKind, unexplained } = explainAll(comparison.duplicates, faults);
  const during = answersDuring(answers, outages);
  const answered = count(answers.map(({ status }) => String(status)));
  const bySelf = ends.filter(({ cause }) => cause === 'itself').length;
  const rows: [string, string][] = [
    ['seed', `${figures.seed}, ${format(figures.rate)} events/s`],
    ['faults', `${clockText(figures.faultsMs)} min; ${inWords(count(faults.map(({ kind }) => kind)))}`],
    ['skipped', skippedText(figures)],
    ['drained after', `${(figures.drainMs / 1_000).toFixed(1)} s`],
    ['answers', inWords(answered.sort(([one], [other]) => one.localeCompare(other)))],
    ['no answer', `lost ${format(figures.lostAnswers)}, no connection ${format(figures.unreachable)}`],
    [
      'PostgreSQL stopped',
      `${outages.length} times; 503 with Retry-After ${format(during.refused)}, accepted ${during.accepted.length}`,
    ],
    [
      'events',
      `acknowledged ${format(events.get('acknowledged') ?? 0)}, ` +
        `unknown ${format(events.get('unknown') ?? 0)} (received ${format(comparison.unknownReceived)}), ` +
        `not sent ${format(events.get('unsent') ?? 0)}`,
    ],
    [
      'transfers',
      `acknowledged ${format(transfers.get('acknowledged') ?? 0)}, unknown ${format(transfers.get('unknown') ?? 0)}`,
    ],
    ['repeated calls', `${format(figures.acceptedBefore)} had been accepted before, and counted once`],
    ['deliveries', format(comparison.received)],
    ['lost', format(comparison.lost.length)],
    [
      'duplicates',
      `${format(comparison.duplicates.length)}; explained by: ${inWords(byKind)}; unexplained: ${unexplained.length}`,
    ],
    ["another's endpoint", format(comparison.misrouted.length)],
    ['invalid signatures', format(comparison.forged.length)],
    ['failed starts', `${bySelf} without the database`],
    ['errors logged', inWords(errors)],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  const problems = problemsIn(figures);
  return [
    ...rows.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`),
    '',
    ...problems.map((problem) => `  FAILED  ${problem}`),
    problems.length === 0 ? '  passed: nothing accepted was lost' : '',
  ].join('\n');
}

function skippedText({ skipped, noDiskReason }: Figures): string {
  const disk = skipped.filter(({ kind }) => kind === 'disk').length;
  const others = skipped.length - disk;
  return (
    [
      ...(noDiskReason === undefined
        ? []
        : [`disk faults ${disk}, because no tmpfs could be mounted (${noDiskReason})`]),
      ...(others > 0 ? [`${others} of processes that were down already`] : []),
    ].join('; ') || 'none'
  );
}
