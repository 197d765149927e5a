import type { HttpServer } from '../infrastructure/http/server.ts';
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
          identity,
          method,
          route: request.routeOptions.url ?? '',
          params: request.params,
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

/**
 * Successful reads by people are left out: the dashboard sends many of them, and they would hide the calls of the
 * partner's own systems.
 */
function isLogged({ type }: CallerIdentity, method: string, status: number): boolean {
  return type !== 'user' || status >= FIRST_ERROR_STATUS || (method !== 'GET' && method !== 'HEAD');
}
