import type { FastifyRequest } from 'fastify';
import type { Freezes } from '../../credentials/organizations/freezes.ts';
import type { Feature } from '../../credentials/organizations/schema.ts';
import type { Actor } from '../../infrastructure/audit/service.ts';
import type { Call } from '../../infrastructure/http/limits/calls-in-flight.ts';
import { type Failure, isFailure } from '../../infrastructure/runtime/failure.ts';
import type { TokenType } from '../claims.ts';
import type { Caller, VerifiedToken, Verifier } from '../verifying/verifier.ts';

/**
 * The caller as far as it is known, for the request log: of a verified token, of an expired or revoked one, or only the
 * client_id that a request to /oauth names. Without an Organization it is not verified.
 */
export type CallerIdentity = Pick<Caller, 'id' | 'bankGuid' | 'environment'> & {
  type: TokenType | undefined;
  organizationGuid: string | undefined;
};

/** Access that an `/api` route requires: declared with the route, enforced by the guard, shown in the OpenAPI document. */
export type Access = {
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
    /** The call counts as a list, of which fewer run at once. Set by the guard for routes with `per_page`. */
    readsMany?: boolean;
  }
  interface FastifyRequest {
    caller: Caller;
    verifiedToken: VerifiedToken;
    /** Slot in the queue of the caller's Organization; undefined for streams, which have a limit of their own. */
    call: Call | undefined;
    sourceAddress: string | undefined;
    /** Set also for calls that are refused. */
    identity: CallerIdentity | undefined;
  }
}

const BEARER = /^Bearer +([\w\-.~+/]+=*)$/i;

export function requires(types: readonly TokenType[], ...scopes: readonly string[]) {
  return {
    config: { access: { types, scopes } },
    documented: { security: [{ bearerToken: [...scopes] }], 'x-token-types': [...types] },
  };
}

export function withFeature(feature: Feature, { config, documented }: Declared) {
  return {
    config: { access: { ...config.access, feature } },
    documented: { ...documented, 'x-feature': feature },
  };
}

/** For changes that give lasting access: a user must have proved their identity in the last minutes. */
export function withFreshProof({ config, documented }: Declared) {
  return {
    config: { access: { ...config.access, freshProof: true } },
    documented: { ...documented, 'x-fresh-proof': true },
  };
}

/** For changes that affect production even with a sandbox token. */
export function inBothEnvironments({ config, documented }: Declared) {
  return {
    config: { access: { ...config.access, bothEnvironments: true } },
    documented: { ...documented, 'x-environments': ['sandbox', 'production'] },
  };
}

/** Runs work in the queue of the caller's Organization, as handlers do; for example the pages of a stream. */
export function runQueued<T>(request: FastifyRequest, work: () => Promise<T>): Promise<T> {
  return request.call ? request.call.run(work) : work();
}

export function bearerTokenOf(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : BEARER.exec(authorization)?.[1];
}

/** For streams: whether the token of the request is still valid and its Organization is not frozen. */
export function tokenCheckOf(
  request: FastifyRequest,
  verifier: Verifier,
  freezes: Freezes,
): () => boolean | Promise<boolean> {
  const token = bearerTokenOf(request.headers.authorization) ?? '';
  return () => {
    const frozen = freezes.check(request.caller.organizationGuid);
    const verified = verifier.verify(token);
    if (frozen instanceof Promise || verified instanceof Promise)
      return Promise.all([frozen, verified]).then((results) => isAdmitted(...results));
    return isAdmitted(frozen, verified);
  };
}

function isAdmitted(frozen: Failure | undefined, verified: VerifiedToken | Failure): boolean {
  return frozen === undefined && !isFailure(verified);
}

export function actorOf(request: FastifyRequest): Actor {
  const { caller, verifiedToken, sourceAddress: address, id: requestId } = request;
  const type = caller.type === 'user' ? 'user' : 'application';
  return { type, id: caller.id, address, requestId, revocableBy: verifiedToken.revocableBy };
}
