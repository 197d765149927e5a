import { send } from './send.ts';
import type { Environment, IssuedToken } from './types.ts';

/** A token is renewed this long before its end, so that no call is sent with one that ends on the way. */
const RENEW_BEFORE_MS = 60_000;

export type Tenancy = { organizationGuid: string; environment: Environment };
export type Tokens = ReturnType<typeof createTokens>;

/** User tokens, in memory and nowhere else; one for each Organization and environment that is looked at. */
export function createTokens() {
  const held = new Map<string, { token: string; renewAt: number }>();
  const asked = new Map<string, Promise<string>>();

  async function request(key: string, { organizationGuid, environment }: Tenancy): Promise<string> {
    const issued = await send<IssuedToken>({
      method: 'POST',
      path: '/dashboard/token',
      body: { organization_guid: organizationGuid, environment },
    });
    const renewAt = Date.now() + issued.expires_in * 1000 - RENEW_BEFORE_MS;
    held.set(key, { token: issued.access_token, renewAt });
    return issued.access_token;
  }

  return {
    async tokenFor(tenancy: Tenancy): Promise<string> {
      const key = keyOf(tenancy);
      const known = held.get(key);
      if (known && Date.now() < known.renewAt) return known.token;
      const under = asked.get(key) ?? request(key, tenancy).finally(() => asked.delete(key));
      asked.set(key, under);
      return await under;
    },
    drop: (tenancy: Tenancy): void => void held.delete(keyOf(tenancy)),
    forget: (): void => held.clear(),
  };
}

function keyOf({ organizationGuid, environment }: Tenancy): string {
  return `${organizationGuid}/${environment}`;
}
