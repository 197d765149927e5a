import { send } from './send.ts';
import type { Environment, IssuedToken } from './types.ts';

/** A token is renewed this long before its end, so that no call is sent with one that ends on the way. */
const RENEW_BEFORE_MS = 60_000;

export type Tenancy = { organizationGuid: string; environment: Environment };
export type Tokens = ReturnType<typeof createTokens>;
type Held = { token: string; renewAt: number };

/** User tokens, in memory and nowhere else; one for each Organization and environment that is looked at. */
export function createTokens() {
  const held = new Map<string, Held>();
  const asked = new Map<string, Promise<Held>>();

  /** Kept unless all was forgotten while it was on its way: then it is of whoever was logged in before. */
  function ask(key: string, tenancy: Tenancy): Promise<Held> {
    const asking = request(tenancy);
    const isWanted = () => asked.get(key) === asking;
    asked.set(key, asking);
    asking
      .then(
        (issued) => void (isWanted() && held.set(key, issued)),
        () => undefined,
      )
      .finally(() => void (isWanted() && asked.delete(key)));
    return asking;
  }

  return {
    async tokenFor(tenancy: Tenancy): Promise<string> {
      const key = keyOf(tenancy);
      const known = held.get(key);
      if (known && Date.now() < known.renewAt) return known.token;
      return (await (asked.get(key) ?? ask(key, tenancy))).token;
    },
    /** One that is on its way too: it may be of before whatever made this one useless. */
    drop: (tenancy: Tenancy): void => {
      held.delete(keyOf(tenancy));
      asked.delete(keyOf(tenancy));
    },
    forget: (): void => {
      held.clear();
      asked.clear();
    },
  };
}

async function request({ organizationGuid, environment }: Tenancy): Promise<Held> {
  const issued = await send<IssuedToken>({
    method: 'POST',
    path: '/dashboard/token',
    body: { organization_guid: organizationGuid, environment },
  });
  const renewAt = Date.now() + issued.expires_in * 1000 - RENEW_BEFORE_MS;
  return { token: issued.access_token, renewAt };
}

function keyOf({ organizationGuid, environment }: Tenancy): string {
  return `${organizationGuid}/${environment}`;
}
