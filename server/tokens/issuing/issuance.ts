import type { Static } from 'typebox';
import type { Client } from '../../credentials/applications/service.ts';
import type { Freezes } from '../../credentials/organizations/freezes.ts';
import type { EnvironmentName } from '../../infrastructure/database/tables.ts';
import { Failure, isFailure } from '../../infrastructure/runtime/failure.ts';
import type { TokenBody } from '../schema.ts';
import { grantKeyScopes } from '../scopes.ts';
import type { ClientAuthentication } from './client-authentication.ts';
import type { Issuer, TokenResponse } from './issuer.ts';
import type { ClientCredentials } from './token-request.ts';

export type OAuthRequest<Body> = {
  body: Body;
  credentials: ClientCredentials;
  environment: EnvironmentName;
  address: string | undefined;
  requestId: string;
};

export type Issuance = ReturnType<typeof createIssuance>;

/** `POST /oauth/token`. Checks in this order: client, freeze, grant, environment, scope. */
export function createIssuance({
  authentication,
  freezes,
  issuer,
}: {
  authentication: ClientAuthentication;
  freezes: Freezes;
  issuer: Issuer;
}) {
  return {
    async issueToken(request: OAuthRequest<Static<typeof TokenBody>>): Promise<TokenResponse | Failure> {
      const { body, credentials, environment, address, requestId } = request;
      const context = { address, requestId, path: '/oauth/token' };
      const client = await authentication.authenticateRateLimited(credentials, context);
      if (isFailure(client)) return client;
      const frozen = await freezes.check(client.organization_guid);
      if (frozen) return frozen;
      const refusal =
        checkGrant(body.grant_type) ?? authentication.checkEnvironment(client, environment, context);
      if (refusal) return refusal;
      const scopes = grantKeyScopes(splitScope(body.scope), holderOf(client), new Set(client.scopes));
      if (isFailure(scopes)) return scopes;
      return issuer.issue({
        tokenType: holderOf(client),
        subject: client.client_id,
        organizationGuid: client.organization_guid,
        bankGuid: client.bank_guid ?? undefined,
        environment,
        grantGuid: client.grant_guid ?? undefined,
        scopes,
        ipAllowlist: client.ip_allowlist,
      });
    },
  };
}

export function checkGrant(grantType: string): Failure | undefined {
  if (grantType === 'client_credentials') return undefined;
  return new Failure('unsupported_grant_type', 'grant_type must be client_credentials');
}

export function splitScope(scope: string | undefined): string[] {
  return (scope ?? '').split(' ').filter((name) => name !== '');
}

function holderOf(client: Client): 'organization' | 'bank' {
  return client.bank_guid === null ? 'organization' : 'bank';
}
