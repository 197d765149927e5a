import type { FastifyRequest } from 'fastify';
import type { FailedAuthentications } from '../infrastructure/audit/failed-authentications.ts';
import type { Actor } from '../infrastructure/audit/service.ts';
import type { SourceAddress } from '../infrastructure/http/requests/source-address.ts';
import { countedAddress } from '../infrastructure/rate-limits/address.ts';
import type { RateLimit, RateLimits } from '../infrastructure/rate-limits/service.ts';
import { isEqualInConstantTime } from '../infrastructure/runtime/constant-time.ts';
import { Failure } from '../infrastructure/runtime/failure.ts';
import type { Metrics } from '../infrastructure/runtime/metrics.ts';
import type { Secret } from '../infrastructure/runtime/secret.ts';

/** After so many wrong tokens from one address only the right token is accepted from there until the window ends. */
const FAILURE_LIMIT: RateLimit = { name: 'operator_failure', limit: 20, windowMs: 300_000 };

const BEARER = /^Bearer ([\x21-\x7e]{1,512})$/i;

/** For the OpenAPI document: `command` is what `portico operator` calls the operation. */
export function operatorAccess(command: string) {
  return { documented: { 'x-command': command, security: [{ operatorToken: [] }] } };
}

export type OperatorAuthentication = ReturnType<typeof createOperatorAuthentication>;

export function createOperatorAuthentication({
  operatorToken,
  rateLimits,
  metrics,
  failedAuthentications,
  sourceAddress,
}: {
  operatorToken: Secret;
  rateLimits: RateLimits;
  metrics: Metrics;
  failedAuthentications: FailedAuthentications;
  sourceAddress: SourceAddress;
}) {
  const expected = Buffer.from(operatorToken.reveal());

  return {
    async check(request: FastifyRequest): Promise<Failure | undefined> {
      const { authorization } = request.headers;
      const token = authorization === undefined ? undefined : BEARER.exec(authorization)?.[1];
      // Before the rate limit, so that others behind the operator's address cannot lock the operator out.
      if (token !== undefined && isEqualInConstantTime(Buffer.from(token), expected)) return undefined;

      const address = countedAddress(sourceAddress(request));
      const blocked = rateLimits.blocked(FAILURE_LIMIT, address);
      if (blocked) return rejected('rate_limit', blocked);

      if (token === undefined)
        return rejected(
          'malformed',
          new Failure(
            'authentication_malformed',
            'The header Authorization: Bearer <operator token> is required',
          ),
        );
      recordWrongToken(request);
      const exhausted = await rateLimits.use(FAILURE_LIMIT, address);
      if (exhausted) return rejected('rate_limit', exhausted);
      return rejected('wrong_token', new Failure('authentication_failed', 'The operator token is invalid'));
    },

    actor(request: FastifyRequest): Actor {
      return { type: 'operator', id: 'operator', address: sourceAddress(request), requestId: request.id };
    },
  };

  function recordWrongToken(request: FastifyRequest): void {
    const { id: requestId, routeOptions } = request;
    const failed = { objectType: 'operator', reason: 'authentication_failed' } as const;
    const from = { address: sourceAddress(request), requestId, path: routeOptions.url ?? '' };
    failedAuthentications.note({ ...failed, ...from }, async () => ({
      id: 'operator',
      organizationGuids: [],
    }));
  }

  function rejected(reason: string, failure: Failure): Failure {
    metrics.operatorRejections.inc({ reason });
    return failure;
  }
}
