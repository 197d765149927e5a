import { subscribe } from 'node:diagnostics_channel';
import type { FastifyInstance, FastifyRequest } from 'fastify';

/**
 * "Every response status of every route is described" is a claim about all answers, so all tests check it:
 * each server made in a test process is watched, and an answer with a status that its route does not
 * describe fails the run. At the exit and not in an `after`: a failing one would keep the later ones, which
 * close the apps, from running.
 */
export function watchDescribedStatuses(): void {
  const undescribed = new Set<string>();
  subscribe('fastify.initialization', (message) => {
    const { fastify } = message as { fastify: FastifyInstance };
    fastify.addHook('onResponse', async (request, reply) => {
      if (!isDescribed(request, reply.statusCode))
        undescribed.add(`${request.method} ${request.routeOptions.url} answered ${reply.statusCode}`);
    });
  });
  process.once('exit', () => {
    if (undescribed.size === 0) return;
    process.exitCode = 1;
    process.stderr.write(`Not in the response schema of the route:\n${[...undescribed].join('\n')}\n`);
  });
}

function isDescribed(request: FastifyRequest, status: number): boolean {
  const { url, schema } = request.routeOptions;
  // Unmatched requests and the servers of single tests have no schema; pages outside the API are hidden.
  if (url === undefined || schema === undefined || schema.hide) return true;
  return Object.hasOwn((schema.response ?? {}) as object, status);
}
