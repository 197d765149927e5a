import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AllowlistPolicy } from '../../credentials/applications/service.ts';
import type { createSourceOf } from './request-source.ts';
import type { viewSession } from './schema.ts';
import type { LoginModule } from './service.ts';
import type { GuardDeps } from './sessions/guard.ts';
import type { Session, StartedSession } from './sessions/sessions.ts';

export type LoginDeps = {
  login: LoginModule;
  supportEmail: string;
  allowlistPolicy: AllowlistPolicy;
  allowlistMinPrefix: number;
  tokenUrls: { sandbox: string; production: string };
} & Omit<GuardDeps, 'sessions' | 'limits'>;
/** Helpers shared by the route files. */
export type RouteTools = LoginDeps & {
  sourceOf: ReturnType<typeof createSourceOf>;
  describe(request: FastifyRequest, session: Session): Promise<ReturnType<typeof viewSession>>;
  /** Sets the session cookie. */
  respondWithSession(reply: FastifyReply, started: StartedSession): Promise<ReturnType<typeof viewSession>>;
};

export const tags = ['Dashboard'];
