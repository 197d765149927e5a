import type { Model, ModelSubscription, Request } from '../world/model.ts';
import type { World } from '../world/world.ts';

/** Invariant 5: `deliveries_failing_since` is the end of the first failure after the last success, to the second. */
const SECOND_MS = 1_000;
/** Outcomes are recorded in batches; two nodes may record theirs in the other order. */
const RECORDED_MS = 1_000;

export async function checkFailingSince({ side, model, scheduler }: World): Promise<void> {
  const { rows } = await side.query<{ url: string; since: Date | null }>(
    `select url, deliveries_failing_since as since from subscriptions
     where failed_at is null and deleted_at is null and scheduled_deletion_at is null`,
  );
  const ended = Map.groupBy(
    model.requests.filter(({ endedAt }) => endedAt !== undefined),
    ({ url }) => url,
  );
  for (const { url, since } of rows) {
    const subscription = model.byUrl(url);
    if (!subscription) continue;
    const expected = failingSince(model, subscription, ended.get(url) ?? [], scheduler.now());
    if (expected === 'unknown') continue;
    model.check(
      expected === undefined ? since === null : Math.abs(Number(since) - expected) <= SECOND_MS,
      () =>
        `${url} is failing since ${since?.toISOString()} instead of ${expected && new Date(expected).toISOString()}`,
    );
  }
}

/** `unknown` where a node with a fault may have recorded an outcome late or not, or two outcomes ended about together. */
function failingSince(
  model: Model,
  { restarts }: ModelSubscription,
  ended: readonly Request[],
  now: number,
): number | undefined | 'unknown' {
  const endOf = ({ endedAt }: Request) => endedAt as number;
  const outcomes = ended.toSorted((one, other) => endOf(one) - endOf(other));
  const success = outcomes.findLast(({ succeeded }) => succeeded);
  const successAt = success ? endOf(success) : 0;
  const restart = restarts.at(-1);
  // A resumed or moved endpoint starts again, at some time during the call.
  const isRestarted = restart !== undefined && restart.to > successAt;
  const [from, to] = isRestarted ? [restart.from, restart.to] : [successAt, successAt];
  const failure = outcomes.find((each) => !each.succeeded && endOf(each) > to);
  const isBetween = (at: number) => at > from - RECORDED_MS && at < to + RECORDED_MS;
  const isUncertain = (request: Request | undefined) =>
    request !== undefined && model.hadFault(request.node.name, request.at, endOf(request) + RECORDED_MS);
  // Recorded before the failure, it completed the delivery, whose failures do not count then.
  const hasUncertainSuccess = ({ eventGuid }: Request) =>
    outcomes.some((each) => each.succeeded && each.eventGuid === eventGuid && isUncertain(each));
  if (
    (isRestarted && !restart.isSure) ||
    isBetween(now) ||
    (failure && now - endOf(failure) < RECORDED_MS) ||
    isUncertain(success) ||
    isUncertain(failure) ||
    (failure && hasUncertainSuccess(failure)) ||
    outcomes.some((each) => (isRestarted || !each.succeeded) && isBetween(endOf(each)))
  )
    return 'unknown';
  return failure && endOf(failure);
}
