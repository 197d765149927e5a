import { firstGuidAt } from '../../infrastructure/runtime/guid.ts';

/** Maximum distance of a guid's time from `created_at`: guids run ahead under load and after a clock change. */
const MAX_DISTANCE_MS = 5 * 60_000;

/** Guid range that contains all deliveries created in [from, to), for partition pruning. */
export function guidsOfWindow(from: Date | undefined, to: Date | undefined) {
  return {
    from: from && firstGuidAt(new Date(from.getTime() - MAX_DISTANCE_MS)),
    to: to && firstGuidAt(new Date(to.getTime() + MAX_DISTANCE_MS)),
  };
}
