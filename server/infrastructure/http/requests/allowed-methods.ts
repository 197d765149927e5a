import type { FastifyInstance } from 'fastify';

/**
 * Fastify answers 404 for a known path with another method. This collects the methods of each path, so that the
 * response can be 405 with `Allow`. It is linear in the number of paths and only runs when no route matched.
 */
export type AllowedMethods = (path: string) => readonly string[];

export function collectAllowedMethods(server: FastifyInstance): AllowedMethods {
  const routes = new Map<string, { segments: readonly string[]; methods: Set<string> }>();

  server.addHook('onRoute', ({ url, method }) => {
    const route = routes.get(url) ?? { segments: segmentsOf(url), methods: new Set<string>() };
    for (const name of [method].flat()) route.methods.add(name);
    routes.set(url, route);
  });

  return (path) => {
    const segments = segmentsOf(path);
    const matching = [...routes.values()].filter((route) => matches(route.segments, segments));
    return [...new Set(matching.flatMap((route) => [...route.methods]))].sort();
  };
}

export function segmentsOf(path: string): readonly string[] {
  // No regular expression: one that matches trailing slashes is quadratic for `/////…/x`.
  let end = path.length;
  while (end > 0 && path[end - 1] === '/') end -= 1;
  return path.slice(0, end).split('/');
}

function matches(pattern: readonly string[], path: readonly string[]): boolean {
  return (
    pattern.length === path.length && pattern.every((part, i) => part.startsWith(':') || part === path[i])
  );
}
