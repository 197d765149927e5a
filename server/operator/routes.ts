import { limitBodies, MAX_CALL_BYTES } from '../infrastructure/http/bodies/body-limits.ts';
import { unwrap } from '../infrastructure/http/errors.ts';
import { refuseUnknownInput } from '../infrastructure/http/requests/strict-input.ts';
import type { HttpServer } from '../infrastructure/http/server.ts';
import type { IdempotencyKeys } from '../infrastructure/idempotency/service.ts';
import { type ApplicationDeps, registerApplicationRoutes } from './application-routes.ts';
import { type AuditDeps, registerAuditRoutes } from './audit-routes.ts';
import type { OperatorAuthentication } from './authentication.ts';
import { type BankDeps, registerBankRoutes } from './bank-routes.ts';
import { type EventDeps, registerEventRoutes } from './event-routes.ts';
import { type RotationDeps, registerKeyRoutes } from './key-routes.ts';
import { type MemberDeps, registerMemberRoutes } from './member-routes.ts';
import { type ObjectDeps, registerObjectRoutes } from './object-routes.ts';
import { type OrganizationDeps, registerOrganizationRoutes } from './organization-routes.ts';
import { type PriceDeps, registerPriceRoutes } from './price-routes.ts';
import { registerSubscriptionRoutes, type SubscriptionDeps } from './subscription-routes.ts';
import { registerTransferRoutes, type TransferDeps } from './transfer/routes.ts';

export type OperatorDeps = {
  authentication: OperatorAuthentication;
  idempotencyKeys: IdempotencyKeys;
} & OrganizationDeps &
  BankDeps &
  ApplicationDeps &
  MemberDeps &
  ObjectDeps &
  PriceDeps &
  EventDeps &
  SubscriptionDeps &
  RotationDeps &
  AuditDeps &
  TransferDeps;

/** The operator API; `portico operator …` makes the same calls. */
export async function registerOperator(server: HttpServer, deps: OperatorDeps): Promise<void> {
  await server.register(
    async (scope: HttpServer) => {
      scope.addHook('onRequest', async (request) => {
        const refused = await deps.authentication.check(request);
        unwrap(refused);
        request.bodySource = 'operator';
      });
      limitBodies(scope, MAX_CALL_BYTES);
      refuseUnknownInput(scope);
      const { idempotencyKeys } = deps;
      scope.decorate('repeatable', { idempotencyKeys, ownerOf: () => 'operator' });
      registerOrganizationRoutes(scope, deps);
      registerBankRoutes(scope, deps);
      registerApplicationRoutes(scope, deps);
      registerMemberRoutes(scope, deps);
      registerObjectRoutes(scope, deps);
      registerPriceRoutes(scope, deps);
      registerEventRoutes(scope, deps);
      registerSubscriptionRoutes(scope, deps);
      registerKeyRoutes(scope, deps);
      registerAuditRoutes(scope, deps);
      await registerTransferRoutes(scope, deps);
    },
    { prefix: '/operator' },
  );
}
