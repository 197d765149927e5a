import type { Static } from 'typebox';
import { compileAllowlist } from '../../credentials/applications/allowlists/allowlist.ts';
import type { Clients } from '../../credentials/applications/clients.ts';
import type { Client } from '../../credentials/applications/service.ts';
import type { Freezes } from '../../credentials/organizations/freezes.ts';
import type { Database } from '../../infrastructure/database/database.ts';
import { type RecordAnswer, recordNothing } from '../../infrastructure/idempotency/record-answer.ts';
import type { RateLimit, RateLimits } from '../../infrastructure/rate-limits/service.ts';
import type { Clock } from '../../infrastructure/runtime/clock.ts';
import { Failure, isFailure } from '../../infrastructure/runtime/failure.ts';
import { isGuid } from '../../infrastructure/runtime/guid.ts';
import type { Metrics } from '../../infrastructure/runtime/metrics.ts';
import type { ObjectRow as Customer, Customers, Visible } from '../../objects/service.ts';
import { type ClientAuthentication, RATE_LIMIT_WINDOW_MS } from '../issuing/client-authentication.ts';
import { checkGrant, type OAuthRequest, splitScope } from '../issuing/issuance.ts';
import type { Issuer, TokenResponse } from '../issuing/issuer.ts';
import { tokenInvalid } from '../revoking/revocations.ts';
import type { CustomerTokenBody, NewCustomerToken } from '../schema.ts';
import { grantCustomerScopes } from '../scopes.ts';
import type { Denials, DeniedCall } from '../verifying/denials.ts';
import { type Caller, expired } from '../verifying/verifier.ts';

export type CustomerTokens = ReturnType<typeof createCustomerTokens>;

type Deps = {
  database: Database;
  authentication: ClientAuthentication;
  clients: Clients;
  freezes: Freezes;
  customers: Customers;
  denials: Denials;
  issuer: Issuer;
  rateLimits: RateLimits;
  metrics: Metrics;
  clock: Clock;
  perClient: number;
};

/** Customer tokens, obtained with a key's secret or with a token of the bank or Organization. */
export function createCustomerTokens(deps: Deps) {
  const { database, authentication, clients, freezes, customers, denials } = deps;
  const { issuer, rateLimits, metrics, clock, perClient } = deps;
  const limit: RateLimit = { name: 'customer_token', limit: perClient, windowMs: RATE_LIMIT_WINDOW_MS };

  async function findCustomer(
    visible: Visible,
    guid: string,
    options: { reserved: boolean },
  ): Promise<Customer | Failure> {
    const customer = isGuid(guid) ? await customers.getCustomer(visible, guid, options) : undefined;
    if (customer === undefined || isFailure(customer))
      return new Failure(
        'no_customer',
        'customer_guid must be the guid of a customer that this key can access in this environment',
      );
    return customer;
  }

  function checkAllowlist(client: Client, context: DeniedCall): Failure | undefined {
    if (compileAllowlist(client.ip_allowlist)(context.address)) return undefined;
    metrics.deniedCalls.inc();
    denials.record({ id: client.client_id, organizationGuid: client.organization_guid }, context);
    return new Failure('ip_not_allowed', 'IP address not in allowlist');
  }

  /** The scopes are limited to the key's own and, if there is one, the parent token's. */
  async function issueFor(
    client: Client,
    visible: Visible,
    request: { customerGuid: string; scopes: readonly string[]; parent?: Caller },
  ): Promise<TokenResponse | Failure> {
    const { parent } = request;
    // Calls of /api use the general connections, token requests the reserved ones.
    const customer = await findCustomer(visible, request.customerGuid, { reserved: !parent });
    if (isFailure(customer)) return customer;
    const scopes = grantCustomerScopes(request.scopes, new Set(client.scopes), parent?.scopes);
    if (isFailure(scopes)) return scopes;
    // The parent token was verified before the body was read and may have expired since.
    if (parent && parent.token.exp * 1_000 <= clock.now().getTime()) return expired();
    return issuer.issue({
      tokenType: 'customer',
      subject: client.client_id,
      organizationGuid: customer.organization_guid,
      bankGuid: customer.bank_guid,
      customerGuid: customer.guid,
      environment: customer.environment,
      grantGuid: client.grant_guid ?? undefined,
      parent: parent?.token,
      scopes,
    });
  }

  return {
    /** `POST /oauth/customer_token`. Checks the key's allowlist here, since the customer token has none. */
    async issueBySecret(
      request: OAuthRequest<Static<typeof CustomerTokenBody>>,
    ): Promise<TokenResponse | Failure> {
      const { body, credentials, environment, address, requestId } = request;
      const context = { address, requestId, path: '/oauth/customer_token' };
      const client = await authentication.authenticateCountingFailures(credentials, context);
      if (isFailure(client)) return client;
      const frozen = await freezes.check(client.organization_guid);
      if (frozen) return frozen;
      const denied =
        checkGrant(body.grant_type) ??
        authentication.checkEnvironment(client, environment, context) ??
        checkAllowlist(client, context);
      if (denied) return (await authentication.countDenied(credentials, address)) ?? denied;
      // After the allowlist: a stolen secret must not use up the limit of its owner.
      const exhausted = await rateLimits.use(limit, client.client_id);
      if (exhausted) return exhausted;
      const visible = {
        organizationGuid: client.organization_guid,
        bankGuid: client.bank_guid ?? undefined,
        environment,
      };
      const wanted = { customerGuid: body.customer_guid, scopes: splitScope(body.scope) };
      return issueFor(client, visible, wanted);
    },

    /** `POST /api/customer_tokens`. The new token is revoked and expires with the caller's. */
    async issueByToken(
      caller: Caller,
      input: Static<typeof NewCustomerToken>,
      recordAnswer: RecordAnswer<TokenResponse> = recordNothing,
    ): Promise<TokenResponse | Failure> {
      const refusal = await rateLimits.use(limit, caller.id);
      if (refusal) return refusal;
      const client = await clients.find(caller.id);
      if (!client) return tokenInvalid();
      const wanted = { customerGuid: input.customer_guid, scopes: input.scopes, parent: caller };
      const issued = await issueFor(client, caller, wanted);
      if (!isFailure(issued)) await recordAnswer(database.queries, issued);
      return issued;
    },
  };
}
