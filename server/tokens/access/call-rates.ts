import { limitOfCustomer } from '../../infrastructure/http/limits/calls-in-flight.ts';
import type { RateLimit, RateLimits } from '../../infrastructure/rate-limits/service.ts';
import type { Failure } from '../../infrastructure/runtime/failure.ts';
import type { Caller } from '../verifying/verifier.ts';

const WINDOW_MS = 60_000;

/** Counts a call of `/api` against the limits per minute of its customer and its Organization. */
export function createCallRates({
  rateLimits,
  callsPerMinute,
}: {
  rateLimits: RateLimits;
  callsPerMinute: number;
}) {
  const ofOrganization: RateLimit = {
    name: 'api',
    limit: callsPerMinute,
    windowMs: WINDOW_MS,
    code: 'api_rate_limit_exceeded',
  };
  const ofCustomer: RateLimit = {
    ...ofOrganization,
    name: 'api_customer',
    limit: limitOfCustomer(callsPerMinute),
  };

  /** A call that the customer's limit refuses does not count for the Organization. */
  return ({ organizationGuid, customerGuid }: Caller): Failure | undefined | Promise<Failure | undefined> => {
    const count = () => rateLimits.count(ofOrganization, organizationGuid);
    if (customerGuid === undefined) return count();
    const refused = rateLimits.count(ofCustomer, customerGuid);
    return refused instanceof Promise ? refused.then((failure) => failure ?? count()) : (refused ?? count());
  };
}
