import type { HttpServer } from '../server.ts';

/** The largest body that the schemas allow is well below this. */
export const MAX_CALL_BYTES = 256 * 1024;

/** For routes of this scope without a limit of their own. */
export function limitBodies(scope: HttpServer, maxBytes: number): void {
  scope.addHook('onRoute', (route) => {
    route.bodyLimit ??= maxBytes;
  });
}
