import type { FastifyReply, FastifyRequest } from 'fastify';
import type { KeyUsage } from '../../credentials/applications/usage.ts';
import { refusalWithout } from '../../credentials/organizations/features.ts';
import type { Freezes } from '../../credentials/organizations/freezes.ts';
import type { Organizations } from '../../credentials/organizations/service.ts';
import { limitBodies, MAX_CALL_BYTES } from '../../infrastructure/http/bodies/body-limits.ts';
import { answerFor, FailureError } from '../../infrastructure/http/errors.ts';
import type { CallsInFlight } from '../../infrastructure/http/limits/calls-in-flight.ts';
import type { PacedRefusals } from '../../infrastructure/http/limits/paced-refusals.ts';
import { describeAnswer, type ErrorStatus } from '../../infrastructure/http/requests/schemas.ts';
import type { SourceAddress } from '../../infrastructure/http/requests/source-address.ts';
import { refuseUnknownInput } from '../../infrastructure/http/requests/strict-input.ts';
import { whenClosed } from '../../infrastructure/http/requests/when-closed.ts';
import type { HttpServer } from '../../infrastructure/http/server.ts';
import type { IdempotencyKeys } from '../../infrastructure/idempotency/service.ts';
import type { RateLimits } from '../../infrastructure/rate-limits/service.ts';
import type { Clock } from '../../infrastructure/runtime/clock.ts';
import { Failure } from '../../infrastructure/runtime/failure.ts';
import type { Metrics } from '../../infrastructure/runtime/metrics.ts';
import { isFreshProof, type TokenType } from '../claims.ts';
import { holdsScope } from '../scopes.ts';
import type { Denials } from '../verifying/denials.ts';
import { type Caller, EndedToken, type VerifiedToken, type Verifier } from '../verifying/verifier.ts';
import { type Access, bearerTokenOf, runQueued } from './access.ts';
import { createCallRates } from './call-rates.ts';

/** Safe methods (RFC 9110, section 9.2.1). */
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

export type AccessDeps = {
  verifier: Verifier;
  organizations: Organizations;
  freezes: Freezes;
  sourceAddress: SourceAddress;
  denials: Denials;
  usage: KeyUsage;
  callsInFlight: CallsInFlight;
  rateLimits: RateLimits;
  refusals: PacedRefusals;
  /** Limit per Organization, over all nodes. */
  callsPerMinute: number;
  metrics: Metrics;
  clock: Clock;
  idempotencyKeys: IdempotencyKeys;
};

/** Registers the routes under `/api` behind the guard. */
export async function registerApi(
  server: HttpServer,
  deps: AccessDeps,
  registerRoutes: (api: HttpServer) => void,
): Promise<void> {
  await server.register(
    async (api: HttpServer) => {
      limitBodies(api, MAX_CALL_BYTES);
      guard(api, deps);
      queueHandlers(api, deps);
      ignoreBankOfBankTokens(api);
      refuseUnknownInput(api);
      const { idempotencyKeys } = deps;
      api.decorate('repeatable', { idempotencyKeys, ownerOf: ({ caller }) => ownerOf(caller) });
      registerRoutes(api);
    },
    { prefix: '/api' },
  );
}

/**
 * Checks every `/api` call before the body is read, in the contract's order: token, revocation, source address, token type,
 * scope, freeze, limits of customer and Organization, second factor and proof, feature. The checks of a cached token are synchronous
 * unless the route requires a feature or a user has no second factor.
 */
function guard(api: HttpServer, deps: AccessDeps): void {
  const { verifier, organizations, freezes, sourceAddress, denials, usage } = deps;
  const { callsInFlight, metrics, clock } = deps;
  const countCall = createCallRates(deps);
  api.decorateRequest('caller');
  api.decorateRequest('verifiedToken');
  api.decorateRequest('call');
  api.decorateRequest('sourceAddress');
  api.decorateRequest('identity');

  api.addHook('onRoute', (route) => {
    const { url, config, schema } = route;
    if (!config?.access) throw new Error(`${url} does not declare the access it requires`);
    route.config = { ...config, readsMany: config.readsMany ?? isPaged(schema?.querystring) };
    describeAnswer(schema?.response, 429);
    const { feature } = config.access;
    if (feature) describeAnswer(schema?.response, answerFor(refusalWithout(feature)).status as ErrorStatus);
  });

  api.addHook('onRequest', (request, reply, done) => {
    const conclude = (refusal: Failure | undefined) => done(refusal && new FailureError(refusal));
    const checkVerified = (verified: VerifiedToken | Failure) => {
      const refusal = authorize(request, verified);
      if (refusal) return conclude(refusal);
      const frozen = freezes.check(request.caller.organizationGuid);
      if (frozen instanceof Promise) frozen.then(admit, done);
      else admit(frozen);
    };
    // Directly after the check: a node that hears of a freeze knows every call that it has admitted.
    const admit = (frozen: Failure | undefined) => {
      if (frozen) return conclude(frozen);
      const limited = enterQueue(request, reply) ?? countCall(request.caller);
      if (limited instanceof Promise) limited.then(checkFurther, done);
      else checkFurther(limited);
    };
    const checkFurther = (limited: Failure | undefined) => {
      if (limited) return deps.refusals(request.caller.organizationGuid, () => conclude(limited));
      const access = request.routeOptions.config.access as Access;
      const { type, secondFactor } = request.caller;
      if (!access.feature && (type !== 'user' || secondFactor))
        conclude(checkFreshProof(request.caller, access));
      else runQueued(request, () => checkOrganization(request, access)).then(conclude, done);
    };
    const verified = verify(request.headers.authorization);
    if (verified instanceof Promise) verified.then(checkVerified, done);
    else checkVerified(verified);
  });

  /** The second factor comes first: giving it is a fresh proof too, so that the user is asked only once. */
  async function checkOrganization(
    { caller, method }: FastifyRequest,
    access: Access,
  ): Promise<Failure | undefined> {
    const { organizationGuid: guid, role, environment } = caller;
    if (caller.type === 'user' && !caller.secondFactor) {
      const changesProduction =
        !SAFE_METHODS.has(method) && (environment !== 'sandbox' || access.bothEnvironments === true);
      const refusal = await organizations.checkSecondFactor(guid, { role, changesProduction });
      if (refusal) return refusal;
    }
    const unproved = checkFreshProof(caller, access);
    if (unproved || !access.feature) return unproved;
    return organizations.checkFeature(guid, access.feature);
  }

  function checkFreshProof({ type, provedAt }: Caller, { freshProof }: Access): Failure | undefined {
    if (!freshProof || type !== 'user' || isFreshProof(provedAt, clock.now())) return undefined;
    return new Failure(
      'proof_required',
      'Confirm that it is you (POST /dashboard/account/proof/…) and call again with a new token',
    );
  }

  function verify(
    authorization: string | undefined,
  ): VerifiedToken | Failure | Promise<VerifiedToken | Failure> {
    const token = bearerTokenOf(authorization);
    if (token !== undefined) return verifier.verify(token);
    return new Failure(
      'authentication_malformed',
      'The header Authorization: Bearer <access token> is required',
    );
  }

  /** The call counts until the response is sent or the connection is closed. */
  function enterQueue(request: FastifyRequest, reply: FastifyReply): Failure | undefined {
    const { isStream, readsMany } = request.routeOptions.config;
    if (isStream) return undefined;
    const { organizationGuid, customerGuid } = request.caller;
    const call = callsInFlight.enter(organizationGuid, readsMany ? 'list' : 'other', customerGuid);
    if (call instanceof Failure) return call;
    request.call = call;
    whenClosed(reply, call.close);
    return undefined;
  }

  function authorize(request: FastifyRequest, verified: VerifiedToken | Failure): Failure | undefined {
    if (verified instanceof Failure && !(verified instanceof EndedToken)) return verified;
    const { caller } = verified;
    const address = sourceAddress(request);
    request.identity = caller;
    request.sourceAddress = address;
    if (verified instanceof EndedToken) return verified;
    if (!verified.allows(address)) {
      metrics.deniedCalls.inc();
      denials.record(caller, { address, requestId: request.id, path: request.routeOptions.url ?? '' });
      return new Failure('ip_not_allowed', 'IP address not in allowlist');
    }
    const refusal = checkTypeAndScopes(caller, request.routeOptions.config.access as Access);
    if (refusal) return refusal;
    request.caller = caller;
    request.verifiedToken = verified;
    request.bodySource = `organization ${caller.organizationGuid}`;
    // Customer tokens are used on customers' devices, so their calls do not count as uses of the key.
    if (caller.type === 'organization' || caller.type === 'bank') usage.record(caller.id, address);
    return undefined;
  }
}

/** Customer tokens have the client_id of their key, so the customer belongs to their owner. */
function ownerOf({ organizationGuid, environment, type, id, customerGuid }: Caller): string {
  return [organizationGuid, environment ?? 'both', type, id, ...(customerGuid ? [customerGuid] : [])].join(
    ' ',
  );
}

function isPaged(querystring: unknown): boolean {
  const { properties = {} } = (querystring ?? {}) as { properties?: object };
  return 'per_page' in properties;
}

/**
 * Runs handlers in the queue of the caller's Organization, also after the client has disconnected. Neither a revocation nor
 * a freeze waits for calls whose body or turn comes later, so both are checked again.
 */
function queueHandlers(api: HttpServer, { freezes, verifier }: AccessDeps): void {
  api.addHook('onRoute', (route) => {
    const { handler } = route;
    route.handler = function handleQueued(request, reply) {
      return runQueued(request, async () => {
        const ended = verifier.checkEnded(request.verifiedToken);
        const invalid = ended instanceof Promise ? await ended : ended;
        if (invalid) throw new FailureError(invalid);
        const frozen = freezes.check(request.caller.organizationGuid);
        const refusal = frozen instanceof Promise ? await frozen : frozen;
        if (refusal) throw new FailureError(refusal);
        return handler.call(this, request, reply);
      });
    };
  });
}

/** Ignores bank_guid in requests with a bank token (specification, Authentication 3). */
function ignoreBankOfBankTokens(api: HttpServer): void {
  api.addHook('preValidation', (request, _reply, done) => {
    if (request.caller.type === 'bank')
      for (const part of [request.query, request.body] as unknown[])
        if (typeof part === 'object' && part !== null) Reflect.deleteProperty(part, 'bank_guid');
    done();
  });
}

function checkTypeAndScopes(caller: Caller, { types, scopes }: Access): Failure | undefined {
  const refused = (message: string) => new Failure('invalid_scopes', message, { scope: scopes.join(' ') });
  if (!types.includes(caller.type))
    return refused(`This operation needs ${listed(types)} token, not ${listed([caller.type])} token`);
  const missing = scopes.find((scope) => !holdsScope(caller.scopes, scope));
  return missing === undefined ? undefined : refused(`This operation needs the scope ${missing}`);
}

const ENGLISH_CHOICE = new Intl.ListFormat('en-GB', { type: 'disjunction' });

/** `an organization, bank or user` */
function listed(types: readonly TokenType[]): string {
  return `${types[0] === 'organization' ? 'an' : 'a'} ${ENGLISH_CHOICE.format(types)}`;
}
