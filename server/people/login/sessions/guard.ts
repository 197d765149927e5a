import cookies from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { unwrap } from '../../../infrastructure/http/errors.ts';
import type { CallsInFlight } from '../../../infrastructure/http/limits/calls-in-flight.ts';
import { countRefusals } from '../../../infrastructure/http/limits/counted-refusals.ts';
import type { SourceAddress } from '../../../infrastructure/http/requests/source-address.ts';
import { refuseUnknownInput } from '../../../infrastructure/http/requests/strict-input.ts';
import { whenClosed } from '../../../infrastructure/http/requests/when-closed.ts';
import type { HttpServer } from '../../../infrastructure/http/server.ts';
import { sessionCookieName } from '../../../infrastructure/http/session-cookie.ts';
import { networkOf } from '../../../infrastructure/rate-limits/address.ts';
import { Failure } from '../../../infrastructure/runtime/failure.ts';
import type { Secret } from '../../../infrastructure/runtime/secret.ts';
import { runQueued } from '../../../tokens/access/access.ts';
import type { LoginLimits } from '../limits/limits.ts';
import { SESSION_LIFETIME_MS, type Session, type Sessions } from './sessions.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route starts a session, or needs none. */
    withoutSession?: boolean;
  }
  interface FastifyRequest {
    session: Session;
  }
}

/** OpenAPI security of the routes that require a session. */
export const bySession = { security: [{ session: [] }] };

const JSON_TYPE = /^application\/json *(;|$)/i;

export type GuardDeps = {
  sessions: Sessions;
  limits: LoginLimits;
  /** Of each member. */
  callsInFlight: CallsInFlight;
  sourceAddress: SourceAddress;
  baseUrl: string;
};

/** Routes under `/dashboard`: same-origin requests only, with a session unless the route declares `withoutSession`. */
export async function registerDashboard(
  server: HttpServer,
  deps: GuardDeps,
  registerRoutes: (dashboard: HttpServer) => void,
): Promise<void> {
  const { sessions, limits, callsInFlight, sourceAddress, baseUrl } = deps;
  await server.register(
    async (dashboard: HttpServer) => {
      await dashboard.register(cookies);
      dashboard.decorateRequest('session');
      dashboard.decorateRequest('call');
      dashboard.addHook('onRequest', async (request, reply) => {
        unwrap(checkOrigin(request, baseUrl));
        if (request.routeOptions.config.withoutSession) return;
        const secret = request.cookies[sessionCookieName(baseUrl)];
        const network = networkOf(sourceAddress(request));
        const session = secret === undefined ? undefined : await sessions.find(secret, network);
        request.session = unwrap(session ?? new Failure('authentication_failed', 'You are not logged in'));
        const { member_guid: memberGuid } = request.session;
        request.bodySource = `member ${memberGuid}`;
        request.call = unwrap(callsInFlight.enter(memberGuid, 'other'));
        whenClosed(reply, request.call.close);
        unwrap(await limits.call(memberGuid));
      });
      queueHandlers(dashboard, sessions);
      countRefusals(dashboard, {
        // Requests with a session are counted for their member.
        blocked: (request) =>
          request.routeOptions.config.withoutSession
            ? limits.blockedAddress(sourceAddress(request))
            : undefined,
        count: (request) => limits.address(sourceAddress(request)),
      });
      // The handlers count the requests that reach them.
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

/** The session may have ended while the client held back the body, or while the call waited. */
function queueHandlers(dashboard: HttpServer, sessions: Sessions): void {
  dashboard.addHook('onRoute', (route) => {
    const { handler, config } = route;
    if (config?.withoutSession) return;
    route.handler = function handleQueued(request, reply) {
      return runQueued(request, async () => {
        unwrap(await sessions.checkNotEnded(request.session));
        return handler.call(this, request, reply);
      });
    };
  });
}

/**
 * CSRF protection besides SameSite=Strict: a cross-site page can send neither JSON without a CORS preflight, which is never
 * granted, nor a forged Sec-Fetch-Site or Origin header.
 */
function checkOrigin({ method, headers }: FastifyRequest, baseUrl: string): Failure | undefined {
  if (method === 'GET' || method === 'HEAD') return undefined;
  if (!JSON_TYPE.test(headers['content-type'] ?? ''))
    return new Failure('csrf_refused', 'Content-Type must be application/json');
  const { origin = baseUrl, 'sec-fetch-site': site = 'same-origin' } = headers;
  if (site !== 'same-origin' || origin !== baseUrl)
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
