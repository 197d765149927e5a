import cookies from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { unwrap } from '../../../infrastructure/http/errors.ts';
import { countRefusals } from '../../../infrastructure/http/limits/counted-refusals.ts';
import type { SourceAddress } from '../../../infrastructure/http/requests/source-address.ts';
import { refuseUnknownInput } from '../../../infrastructure/http/requests/strict-input.ts';
import type { HttpServer } from '../../../infrastructure/http/server.ts';
import { sessionCookieName } from '../../../infrastructure/http/session-cookie.ts';
import { networkOf } from '../../../infrastructure/rate-limits/address.ts';
import { Failure } from '../../../infrastructure/runtime/failure.ts';
import type { Secret } from '../../../infrastructure/runtime/secret.ts';
import type { From } from '../entry.ts';
import type { LoginLimits } from '../limits/limits.ts';
import { SESSION_LIFETIME_MS, type Session, type Sessions } from './sessions.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Works without a session: it is how one gets one. */
    withoutSession?: boolean;
  }
  interface FastifyRequest {
    session: Session;
  }
}

/** What the routes behind the guard declare in the OpenAPI document. */
export const bySession = { security: [{ session: [] }] };

const JSON_TYPE = /^application\/json *(;|$)/i;

export type GuardDeps = {
  sessions: Sessions;
  limits: LoginLimits;
  sourceAddress: SourceAddress;
  baseUrl: string;
};

/** Everything under `/dashboard`: from our own pages only, and with a session unless the route does without. */
export async function registerDashboard(
  server: HttpServer,
  deps: GuardDeps,
  registerRoutes: (dashboard: HttpServer) => void,
): Promise<void> {
  const { sessions, limits, sourceAddress, baseUrl } = deps;
  await server.register(
    async (dashboard: HttpServer) => {
      await dashboard.register(cookies);
      dashboard.decorateRequest('session');
      dashboard.addHook('onRequest', async (request) => {
        unwrap(checkOrigin(request, baseUrl));
        if (request.routeOptions.config.withoutSession) return;
        const secret = request.cookies[sessionCookieName(baseUrl)];
        const network = networkOf(sourceAddress(request));
        const session = secret === undefined ? undefined : await sessions.find(secret, network);
        request.session = unwrap(session ?? new Failure('authentication_failed', 'You are not logged in'));
        request.bodySource = `member ${request.session.member_guid}`;
      });
      countRefusals(dashboard, {
        // With a session it is not a guess at one, and its own limits hold.
        blocked: (request) =>
          request.routeOptions.config.withoutSession ? limits.blockedFrom(sourceAddress(request)) : undefined,
        count: (request) => limits.from(sourceAddress(request)),
      });
      // What reaches its handler is counted there.
      dashboard.addHook('preHandler', (request, _reply, done) => {
        request.refusalCounts = false;
        done();
      });
      refuseUnknownInput(dashboard);
      registerRoutes(dashboard);
    },
    { prefix: '/dashboard' },
  );
}

/**
 * A page elsewhere can make a browser send our cookie. It cannot send JSON without asking us first, which we never
 * allow; and browsers tell where a request comes from. SameSite=Strict keeps the cookie at home besides.
 */
function checkOrigin({ method, headers }: FastifyRequest, baseUrl: string): Failure | undefined {
  if (method === 'GET' || method === 'HEAD') return undefined;
  if (!JSON_TYPE.test(headers['content-type'] ?? ''))
    return new Failure('csrf_refused', 'Content-Type must be application/json');
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin')
    return new Failure('csrf_refused', 'The request comes from another site');
  if (headers.origin !== undefined && headers.origin !== baseUrl)
    return new Failure('csrf_refused', `The request must come from ${baseUrl}`);
  return undefined;
}

export function setSessionCookie(reply: FastifyReply, baseUrl: string, secret: Secret): void {
  const maxAge = SESSION_LIFETIME_MS / 1_000;
  reply.setCookie(sessionCookieName(baseUrl), secret.reveal(), { ...cookieOptions(baseUrl), maxAge });
}

export function clearSessionCookie(reply: FastifyReply, baseUrl: string): void {
  reply.clearCookie(sessionCookieName(baseUrl), cookieOptions(baseUrl));
}

function cookieOptions(baseUrl: string) {
  return { httpOnly: true, sameSite: 'strict', path: '/', secure: baseUrl.startsWith('https:') } as const;
}

export function createFrom(sourceAddress: SourceAddress) {
  return (request: FastifyRequest): From => ({
    address: sourceAddress(request),
    userAgent: request.headers['user-agent'],
    requestId: request.id,
  });
}
