import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AllowlistPolicy } from '../../credentials/applications/service.ts';
import type { Begun } from './entry.ts';
import type { viewSession } from './schema.ts';
import type { LoginModule } from './service.ts';
import type { createFrom, GuardDeps } from './sessions/guard.ts';
import type { Session } from './sessions/sessions.ts';

export type LoginDeps = {
  login: LoginModule;
  supportEmail: string;
  allowlistPolicy: AllowlistPolicy;
  allowlistMinPrefix: number;
} & Omit<GuardDeps, 'sessions' | 'limits'>;
/** What the routes share: who asks, and how a session that has begun is answered. */
export type RouteTools = LoginDeps & {
  from: ReturnType<typeof createFrom>;
  describe(request: FastifyRequest, session: Session): Promise<ReturnType<typeof viewSession>>;
  begin(reply: FastifyReply, begun: Begun): Promise<ReturnType<typeof viewSession>>;
};

export const tags = ['Dashboard'];
