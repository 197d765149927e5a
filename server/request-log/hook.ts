import type { HttpServer } from '../infrastructure/http/server.ts';
import { isGuid } from '../infrastructure/runtime/guid.ts';
import type { CallerIdentity } from '../tokens/access/access.ts';
import { FIRST_ERROR_STATUS, type RequestRecorder } from './recorder.ts';

/** Records the calls whose caller is known, refused ones too. */
export function logRequests(scope: HttpServer, recorder: RequestRecorder): void {
  scope.addHook('onResponse', (request, reply, done) => {
    const { identity, method } = request;
    const status = reply.statusCode;
    if (identity !== undefined && isLogged(identity, method, status)) {
      const sampleRate = recorder.sampleRateOf(identity, status);
      if (sampleRate > 0)
        recorder.record({
          requestId: request.id,
          identity: plain(identity),
          method,
          route: request.routeOptions.url ?? '',
          objectGuid: objectGuidOf(request.params),
          status,
          messageCode: request.messageCode,
          durationMs: reply.elapsedTime,
          address: request.sourceAddress,
          sampleRate,
        });
    }
    done();
  });
}

/** Without scopes and other claims: those of an expired token are parsed anew for each call. */
function plain({ type, id, organizationGuid, bankGuid, environment }: CallerIdentity): CallerIdentity {
  return { type, id, organizationGuid, bankGuid, environment };
}

/**
 * Successful reads by people are left out: the dashboard sends many of them, and they would hide the calls of the
 * partner's own systems.
 */
function isLogged({ type }: CallerIdentity, method: string, status: number): boolean {
  return type !== 'user' || status >= FIRST_ERROR_STATUS || (method !== 'GET' && method !== 'HEAD');
}

/** A copy: the parameter itself would keep the whole URL in memory until the call is written. */
function objectGuidOf(params: unknown): string | null {
  const [first] = Object.values((params ?? {}) as Record<string, unknown>);
  return typeof first === 'string' && isGuid(first) ? Buffer.from(first, 'hex').toString('hex') : null;
}
