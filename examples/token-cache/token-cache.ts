/** Renewed so long before it expires, so that no call is sent with a token that expires on the way. */
const RENEW_BEFORE_MS = 60_000;
const TIMEOUT_MS = 10_000;

type Token = { value: string; expiresAt: number };
export type Settings = {
  tokenUrl: string;
  clientId: string;
  clientSecret: string;
  scopes: readonly string[];
};

/** One token for all callers of a process: calls at the same time wait for one request. */
export function createTokenCache({ tokenUrl, clientId, clientSecret, scopes }: Settings) {
  let token: Token | undefined;
  let pending: Promise<Token> | undefined;

  async function request(): Promise<Token> {
    const response = await fetch(tokenUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        grant_type: 'client_credentials',
        client_id: clientId,
        client_secret: clientSecret,
        scope: scopes.join(' '),
      }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const body = (await response.json()) as { access_token: string; expires_in: number; message?: string };
    if (!response.ok) throw new Error(`no token: ${response.status} ${body.message}`);
    return { value: body.access_token, expiresAt: Date.now() + body.expires_in * 1_000 };
  }

  async function get(): Promise<string> {
    if (token && Date.now() < token.expiresAt - RENEW_BEFORE_MS) return token.value;
    pending ??= request().finally(() => {
      pending = undefined;
    });
    token = await pending;
    return token.value;
  }

  return {
    get,

    /** A call with the token. After a 401 it is repeated once, with a new token. */
    async fetch(url: string, init: RequestInit = {}): Promise<Response> {
      const send = async (value: string) => {
        const headers = new Headers(init.headers);
        headers.set('authorization', `Bearer ${value}`);
        return fetch(url, { ...init, headers });
      };
      const used = await get();
      const response = await send(used);
      if (response.status !== 401) return response;
      await response.body?.cancel();
      // Another caller may have renewed it already.
      if (token?.value === used) token = undefined;
      return send(await get());
    },
  };
}
