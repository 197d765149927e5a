import type { FailureKind } from '../../../infrastructure/database/tables.ts';
import type { Outcome } from '../delivery.ts';

/** Failed attempts of one endpoint with the same kind and status, and the newest of them. */
export type ErrorCount = {
  subscriptionGuid: string;
  kind: FailureKind;
  status: number | undefined;
  count: number;
  lastAt: Date;
  deliveryGuid: string;
  attemptNumber: number;
};

export function countErrors(outcomes: readonly Outcome[]): ErrorCount[] {
  const errors = new Map<string, ErrorCount>();
  for (const { delivery, result, status, endedAt } of outcomes) {
    if (result === 'completed') continue;
    const key = `${delivery.subscriptionGuid}${result}${status}`;
    const known = errors.get(key);
    const newest = known && known.lastAt > endedAt ? known : undefined;
    errors.set(key, {
      subscriptionGuid: delivery.subscriptionGuid,
      kind: result,
      status,
      count: (known?.count ?? 0) + 1,
      lastAt: newest?.lastAt ?? endedAt,
      deliveryGuid: newest?.deliveryGuid ?? delivery.guid,
      attemptNumber: newest?.attemptNumber ?? delivery.attemptCount + 1,
    });
  }
  return [...errors.values()];
}
