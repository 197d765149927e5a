import { limitOfCustomer } from '../../infrastructure/http/limits/calls-in-flight.ts';
import type { RateLimit, RateLimits } from '../../infrastructure/rate-limits/service.ts';
import type { Failure } from '../../infrastructure/runtime/failure.ts';
import type { Caller } from '../verifying/verifier.ts';

const WINDOW_MS = 60_000;

/** Counts an `/api` call against the limits per minute of its customer and its Organization. */
export function createCallRates({
  rateLimits,
  callsPerMinute,
}: {
  rateLimits: RateLimits;
  callsPerMinute: number;
}) {
  const perOrganization: RateLimit = {
    name: 'api',
    limit: callsPerMinute,
    windowMs: WINDOW_MS,
    code: 'api_rate_limit_exceeded',
  };
  const perCustomer: RateLimit = {
    ...perOrganization,
    name: 'api_customer',
    limit: limitOfCustomer(callsPerMinute),
  };

  /** A call over the customer's limit does not count against the Organization's. */
  return ({ organizationGuid, customerGuid }: Caller): Failure | undefined | Promise<Failure | undefined> => {
    const count = () => rateLimits.count(perOrganization, organizationGuid);
    if (customerGuid === undefined) return count();
    const refused = rateLimits.count(perCustomer, customerGuid);
    return refused instanceof Promise ? refused.then((failure) => failure ?? count()) : (refused ?? count());
  };
}
