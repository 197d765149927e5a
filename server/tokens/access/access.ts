import type { FastifyReply, FastifyRequest } from 'fastify';
import type { KeyUsage } from '../../credentials/applications/usage.ts';
import type { Feature } from '../../credentials/organizations/schema.ts';
import type { Organizations } from '../../credentials/organizations/service.ts';
import type { Actor } from '../../infrastructure/audit/service.ts';
import { limitBodies, MAX_CALL_BYTES } from '../../infrastructure/http/bodies/body-limits.ts';
import { FailureError } from '../../infrastructure/http/errors.ts';
import type { Call, CallsInFlight } from '../../infrastructure/http/limits/calls-in-flight.ts';
import type { PacedRefusals } from '../../infrastructure/http/limits/paced-refusals.ts';
import { describeAnswer } from '../../infrastructure/http/requests/schemas.ts';
import type { SourceAddress } from '../../infrastructure/http/requests/source-address.ts';
import { refuseUnknownInput } from '../../infrastructure/http/requests/strict-input.ts';
import type { HttpServer } from '../../infrastructure/http/server.ts';
import type { RateLimits } from '../../infrastructure/rate-limits/service.ts';
import type { Clock } from '../../infrastructure/runtime/clock.ts';
import { Failure } from '../../infrastructure/runtime/failure.ts';
import type { Metrics } from '../../infrastructure/runtime/metrics.ts';
import type { TokenType } from '../claims.ts';
import { holdsScope } from '../scopes.ts';
import type { Denials } from '../verifying/denials.ts';
import { isFreshProof } from '../verifying/proof.ts';
import type { Caller, VerifiedToken, Verifier } from '../verifying/verifier.ts';
import { createCallRates } from './call-rates.ts';

/** What a route of `/api` asks of a token. Declared with the route, checked here, shown in the OpenAPI document. */
type Access = {
  types: readonly TokenType[];
  scopes: readonly string[];
  feature?: Feature;
  freshProof?: boolean;
  bothEnvironments?: boolean;
};
type Declared = { config: { access: Access }; documented: object };

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access;
  }
  interface FastifyRequest {
    caller: Caller;
    /** Where a call waits for the turn of its Organization; streams have a limit of their own instead. */
    call: Call | undefined;
    sourceAddress: string | undefined;
  }
}

/** The two places of a route that speak of access: what is enforced and what is documented, from one value. */
export function requires(types: readonly TokenType[], ...scopes: readonly string[]) {
  return {
    config: { access: { types, scopes } },
    documented: { security: [{ bearerToken: [...scopes] }], 'x-token-types': [...types] },
  };
}

/** The same, of an Organization that has this feature. How one that has not is refused is told with the features. */
export function withFeature(feature: Feature, { config, documented }: Declared) {
  return {
    config: { access: { ...config.access, feature } },
    documented: { ...documented, 'x-feature': feature },
  };
}

/** The same, and a person must have proved who they are in the last minutes: for what gives lasting access. */
export function withFreshProof({ config, documented }: Declared) {
  return {
    config: { access: { ...config.access, freshProof: true } },
    documented: { ...documented, 'x-fresh-proof': true },
  };
}

/** The same for what is of no environment: a change with a sandbox token changes production too. */
export function inBothEnvironments({ config, documented }: Declared) {
  return {
    config: { access: { ...config.access, bothEnvironments: true } },
    documented: { ...documented, 'x-environments': ['sandbox', 'production'] },
  };
}

/** Methods that change nothing (RFC 9110, section 9.2.1). */
const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
const BEARER = /^Bearer +([\w\-.~+/]+=*)$/i;

export type AccessDeps = {
  verifier: Verifier;
  organizations: Organizations;
  sourceAddress: SourceAddress;
  denials: Denials;
  usage: KeyUsage;
  callsInFlight: CallsInFlight;
  rateLimits: RateLimits;
  refusals: PacedRefusals;
  /** Calls of one Organization in a minute, on all nodes together. */
  callsPerMinute: number;
  metrics: Metrics;
  clock: Clock;
};

/** Everything under `/api`, behind one guard. */
export async function registerApi(
  server: HttpServer,
  deps: AccessDeps,
  registerRoutes: (api: HttpServer) => void,
): Promise<void> {
  await server.register(
    async (api: HttpServer) => {
      limitBodies(api, MAX_CALL_BYTES);
      guard(api, deps);
      runInTurn(api);
      ignoreBankOfBankTokens(api);
      refuseUnknownInput(api);
      registerRoutes(api);
    },
    { prefix: '/api' },
  );
}

/**
 * The checks of every `/api` call in the contract's order: token, revocation, source address, token type, scope,
 * limits of the customer and the Organization, a person's second factor and proof, feature; all before the body is read. A token that
 * was seen before passes without waiting for anything, unless the route asks for a feature or a person has no second
 * factor.
 */
function guard(api: HttpServer, deps: AccessDeps): void {
  const { verifier, organizations, sourceAddress, denials, usage, callsInFlight, metrics, clock } = deps;
  const countCall = createCallRates(deps);
  api.decorateRequest('caller');
  api.decorateRequest('call');
  api.decorateRequest('sourceAddress');

  api.addHook('onRoute', ({ url, config, schema }) => {
    if (!config?.access) throw new Error(`${url} does not declare the access it requires`);
    describeAnswer(schema?.response, 429);
  });

  api.addHook('onRequest', (request, reply, done) => {
    const conclude = (refusal: Failure | undefined) => done(refusal && new FailureError(refusal));
    const decide = (verified: VerifiedToken | Failure) => {
      const refusal = admit(request, verified);
      if (refusal) return conclude(refusal);
      const limited = enter(request, reply) ?? countCall(request.caller);
      if (limited instanceof Promise) limited.then(checkFurther, done);
      else checkFurther(limited);
    };
    const checkFurther = (limited: Failure | undefined) => {
      if (limited) return deps.refusals(request.caller.organizationGuid, () => conclude(limited));
      const access = request.routeOptions.config.access as Access;
      const { type, secondFactor } = request.caller;
      if (!access.feature && (type !== 'user' || secondFactor))
        conclude(refusalOfProof(request.caller, access));
      else inTurn(request, () => refusalByOrganization(request, access)).then(conclude, done);
    };
    const verified = verify(request.headers.authorization);
    if (verified instanceof Promise) verified.then(decide, done);
    else decide(verified);
  });

  /** A missing second factor comes first: giving one is a fresh proof too, so that a person is asked once. */
  async function refusalByOrganization(
    { caller, method }: FastifyRequest,
    access: Access,
  ): Promise<Failure | undefined> {
    const { organizationGuid: guid, role, environment } = caller;
    if (caller.type === 'user' && !caller.secondFactor) {
      const changesProduction =
        !READING.has(method) && (environment !== 'sandbox' || access.bothEnvironments === true);
      const refusal = await organizations.refusalWithoutSecondFactor(guid, { role, changesProduction });
      if (refusal) return refusal;
    }
    const unproved = refusalOfProof(caller, access);
    if (unproved || !access.feature) return unproved;
    return organizations.refusalOf(guid, access.feature);
  }

  function refusalOfProof({ type, provedAt }: Caller, { freshProof }: Access): Failure | undefined {
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

  /** Counted until the answer has been sent, or the connection was lost. */
  function enter(request: FastifyRequest, reply: FastifyReply): Failure | undefined {
    if (request.routeOptions.config.isStream) return undefined;
    // Routes without a path parameter read many rows: lists, exports and statistics.
    const isList = READING.has(request.method) && !request.routeOptions.url?.includes(':');
    const { organizationGuid, customerGuid } = request.caller;
    const call = callsInFlight.enter(organizationGuid, isList ? 'list' : 'other', customerGuid);
    if (call instanceof Failure) return call;
    request.call = call;
    reply.raw.once('close', call.close);
    return undefined;
  }

  function admit(request: FastifyRequest, verified: VerifiedToken | Failure): Failure | undefined {
    if (verified instanceof Failure) return verified;
    const { caller } = verified;
    const address = sourceAddress(request);
    if (!verified.allows(address)) {
      metrics.deniedCalls.inc();
      denials.note(caller, { address, requestId: request.id, path: request.routeOptions.url ?? '' });
      return new Failure('ip_not_allowed', 'IP address not in allowlist');
    }
    const refusal = missingAccess(caller, request.routeOptions.config.access as Access);
    if (refusal) return refusal;
    request.caller = caller;
    request.bodySource = `organization ${caller.organizationGuid}`;
    request.sourceAddress = address;
    // A customer's device is not the key: its calls say nothing about where the key is used.
    if (caller.type === 'organization' || caller.type === 'bank') usage.note(caller.id, address);
    return undefined;
  }
}

/** Handlers run when it is the turn of their Organization; also those whose client has hung up count until they end. */
function runInTurn(api: HttpServer): void {
  api.addHook('onRoute', (route) => {
    const { handler } = route;
    route.handler = function handleInTurn(request, reply) {
      return inTurn(request, async () => handler.call(this, request, reply));
    };
  });
}

/** For work of a call outside of its handler too, such as the pages of a stream. */
export function inTurn<T>(request: FastifyRequest, work: () => Promise<T>): Promise<T> {
  return request.call ? request.call.run(work) : work();
}

function bearerTokenOf(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : BEARER.exec(authorization)?.[1];
}

/** For answers that go on for long: whether the token of this call is still good, asked as often as one likes. */
export function tokenCheckOf(request: FastifyRequest, verifier: Verifier): () => boolean | Promise<boolean> {
  const token = bearerTokenOf(request.headers.authorization) ?? '';
  return () => {
    const verified = verifier.verify(token);
    return verified instanceof Promise ? verified.then(isVerified) : isVerified(verified);
  };
}

function isVerified(verified: VerifiedToken | Failure): boolean {
  return !(verified instanceof Failure);
}

/** A bank token has its bank; what the request says of it is ignored (specification, Authentication 3). */
function ignoreBankOfBankTokens(api: HttpServer): void {
  api.addHook('preValidation', (request, _reply, done) => {
    if (request.caller.type === 'bank')
      for (const part of [request.query, request.body] as unknown[])
        if (typeof part === 'object' && part !== null) Reflect.deleteProperty(part, 'bank_guid');
    done();
  });
}

function missingAccess(caller: Caller, { types, scopes }: Access): Failure | undefined {
  const refused = (message: string) => new Failure('invalid_scopes', message, { scope: scopes.join(' ') });
  if (!types.includes(caller.type))
    return refused(`This operation needs ${listed(types)} token, not ${listed([caller.type])} token`);
  const missing = scopes.find((scope) => !holdsScope(caller.scopes, scope));
  return missing === undefined ? undefined : refused(`This operation needs the scope ${missing}`);
}

function listed(types: readonly TokenType[]): string {
  return types.map((type) => (type === 'organization' ? 'an organization' : `a ${type}`)).join(' or ');
}

export function actorOf(request: FastifyRequest): Actor {
  const { caller, sourceAddress: address, id: requestId } = request;
  return { type: caller.type === 'user' ? 'user' : 'application', id: caller.id, address, requestId };
}
