import type { Static } from 'typebox';
import type { Client } from '../../credentials/applications/service.ts';
import type { Freezes } from '../../credentials/organizations/freezes.ts';
import type { Actor, Audit } from '../../infrastructure/audit/service.ts';
import type { Database } from '../../infrastructure/database/database.ts';
import type { EnvironmentName } from '../../infrastructure/database/tables.ts';
import { Failure, isFailure } from '../../infrastructure/runtime/failure.ts';
import type { Claims } from '../claims.ts';
import type { Revocations } from '../revoking/revocations.ts';
import type { IntrospectionView } from '../schema.ts';
import type { Verifier } from './verifier.ts';

export type Introspection = ReturnType<typeof createIntrospection>;

export function createIntrospection({
  verifier,
  revocations,
  freezes,
  database,
  audit,
}: {
  verifier: Verifier;
  revocations: Revocations;
  freezes: Freezes;
  database: Database;
  audit: Audit;
}) {
  return {
    /** RFC 7662. Tokens of another Organization, bank or environment are reported as inactive. */
    async introspect(
      client: Client,
      environment: EnvironmentName,
      token: string,
    ): Promise<Static<typeof IntrospectionView>> {
      const verified = await verifier.verify(token);
      if (isFailure(verified) || !isVisible(client, environment, verified.claims)) return { active: false };
      return { active: true, ...verified.claims };
    },

    /** RFC 7009. An invalid token is ignored; a token of another client is refused. Retried after 503 (section 2.2.1). */
    async revoke(actor: Actor, client: Client, token: string): Promise<Failure | undefined> {
      const verified = await verifier.verify(token);
      if (isFailure(verified)) return undefined;
      if (verified.claims.sub !== client.client_id)
        return new Failure('invalid_request', 'The token was not issued to this client');
      const { jti, organization_guid: organizationGuid } = verified.claims;
      const revision = await database.authentication.transaction(async (transaction) => {
        const frozen = await freezes.check(organizationGuid, transaction);
        if (frozen) return frozen;
        const change = { organizationGuid, objectType: 'token', objectId: jti };
        await audit.record(transaction, actor, { ...change, action: 'token.revoke' });
        return revocations.revoke(transaction, 'token', jti);
      });
      if (isFailure(revision)) return revision;
      await revocations.propagate(revision);
      return undefined;
    },
  };
}

function isVisible(client: Client, environment: EnvironmentName, claims: Claims): boolean {
  if (client.organization_guid !== claims.organization_guid) return false;
  if (claims.environment !== undefined && claims.environment !== environment) return false;
  return client.bank_guid === null || client.bank_guid === claims.bank_guid;
}
