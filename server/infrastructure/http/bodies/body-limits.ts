import type { HttpServer } from '../server.ts';

/** Most calls are a few hundred bytes; the longest that the schemas allow is well below this. */
export const MAX_CALL_BYTES = 256 * 1024;

/** For the routes of this scope that have no limit of their own. */
export function limitBodies(scope: HttpServer, maxBytes: number): void {
  scope.addHook('onRoute', (route) => {
    route.bodyLimit ??= maxBytes;
  });
}
