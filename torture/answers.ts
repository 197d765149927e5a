/** One answer of the API to a call that changes something; calls without an answer are not among them. */
export type Answer = {
  startedAt: number;
  endedAt: number;
  call: string;
  status: number;
  code?: string | undefined;
  retryAfter?: string | undefined;
};
/** While PostgreSQL was stopped: from the end of the old server to the start of the new one. */
export type Outage = { from: number; to: number };

const SUCCESS = new Set([201, 202]);
/** A repeated call whose first one is still in progress. */
const IN_PROGRESS = 'idempotency_in_progress';

/** Accepted, or refused in a way that tells the client to come back. */
export function problemOf({ call, status, code, retryAfter }: Answer): string | undefined {
  if (SUCCESS.has(status)) return undefined;
  const mayRepeat = status === 503 || (status === 409 && code === IN_PROGRESS);
  if (!mayRepeat) return `${call} answered ${status} ${code ?? ''}`.trimEnd();
  return Number(retryAfter) >= 1 ? undefined : `${call} answered ${status} without Retry-After`;
}

/** Calls that began and ended during an outage, and those of them that were accepted nevertheless. */
export function answersDuring(answers: readonly Answer[], outages: readonly Outage[]) {
  const during = answers.filter(({ startedAt, endedAt }) =>
    outages.some(({ from, to }) => startedAt >= from && endedAt <= to),
  );
  return {
    refused: during.filter(({ status }) => status === 503).length,
    accepted: during.filter(({ status }) => SUCCESS.has(status)),
  };
}
