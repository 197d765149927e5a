import type { Recovery, RecoveryKind, RecoveryPreview } from '../../../api/types.ts';

/** The API does not count beyond this. */
const MAX_COUNTED = 10_000;

export const KIND_LABELS: Record<RecoveryKind, string> = {
  failed: 'Redeliver failed deliveries',
  waiting: 'Retry waiting deliveries now',
  all: 'Replay all events',
};

export function formatCount(count: number): string {
  return count >= MAX_COUNTED ? '10,000+' : count.toLocaleString('en');
}

export function sentBy(kind: RecoveryKind, preview: RecoveryPreview): number {
  const { waiting, due, paused } = preview;
  return kind === 'waiting' ? waiting - due - paused : preview[kind];
}

export function defaultKindOf(preview: RecoveryPreview | undefined): RecoveryKind {
  return preview && preview.failed === 0 && sentBy('waiting', preview) > 0 ? 'waiting' : 'failed';
}

export function actionOf(kind: RecoveryKind, count: number): string {
  if (count === 0) return 'Redeliver';
  const shown = formatCount(count);
  if (kind === 'waiting') return `Retry ${shown} now`;
  return kind === 'failed' ? `Redeliver ${shown}` : `Replay ${shown} ${count === 1 ? 'event' : 'events'}`;
}

const deliveries = (count: number) => `${formatCount(count)} ${count === 1 ? 'delivery' : 'deliveries'}`;
const events = (count: number) => `${formatCount(count)} ${count === 1 ? 'event' : 'events'}`;

/** What the kind would do with this preview. */
export function effectOf(kind: RecoveryKind, preview: RecoveryPreview): string {
  const { failed, waiting, due, paused, all } = preview;
  if (kind === 'failed')
    return failed === 0
      ? 'No delivery of this period has failed for good, or all were redelivered since.'
      : `Sends ${deliveries(failed)} again, with a new retry cycle.`;
  if (kind === 'all')
    return all === 0
      ? 'No events in this period.'
      : `Sends ${events(all)} again, also those already delivered. The webhook-id stays the same, so an endpoint that deduplicates ignores events it has processed. Events still waiting are not sent twice.`;
  if (waiting === 0) return 'No delivery of this period is waiting.';
  const sent = sentBy(kind, preview);
  return [
    ...(sent === 0
      ? []
      : [`Sends ${deliveries(sent)} now, one request at a time first and faster with each success.`]),
    ...(due === 0 ? [] : [`Already due: ${formatCount(due)}, sent as fast as your endpoint answers.`]),
    ...(paused === 0
      ? []
      : [`Postponed by your endpoint with Retry-After: ${formatCount(paused)}, not sent earlier.`]),
  ].join(' ');
}

export type Outcome = { state: string; label: string; text: string; color: string };

/** The badge and text of a job. Only a job that sent something is shown as a success. */
export function outcomeOf(job: Recovery): Outcome {
  const { kind, state, total, done, redelivered = done } = job;
  const progress = `${done.toLocaleString('en')} of ${total.toLocaleString('en')}`;
  const sent = `${redelivered.toLocaleString('en')} ${kind === 'waiting' ? 'retried' : 'queued'}`;
  const skipped = done > redelivered ? ` · ${(done - redelivered).toLocaleString('en')} skipped` : '';
  if (state === 'running') return { state, label: 'Running', text: `${progress} processed`, color: 'blue' };
  if (state === 'failed')
    return {
      state,
      label: 'Stopped',
      text: `The subscription stopped delivering after ${progress}.`,
      color: 'red',
    };
  if (state === 'cancelled')
    return { state, label: 'Cancelled', text: `Cancelled after ${progress} · ${sent}`, color: 'gray' };
  if (redelivered === 0)
    return { state: 'empty', label: 'Nothing to redeliver', text: reasonOf(kind, done), color: 'gray' };
  return { state, label: 'Completed', text: `${sent}${skipped}`, color: 'teal' };
}

function reasonOf(kind: RecoveryKind, done: number): string {
  const count = done.toLocaleString('en');
  if (kind === 'failed')
    return done === 0 ? 'No failed deliveries in this period' : `${count} failed, all redelivered before`;
  if (kind === 'waiting')
    return done === 0
      ? 'No waiting deliveries in this period'
      : `${count} were due already or wait for a Retry-After`;
  return done === 0 ? 'No events in this period' : `${count} events, all still waiting to be delivered`;
}
