import { compare } from './compare.ts';
import { withServer } from './server-process.ts';

/**
 * `/oauth/token` against a bare Fastify JSON POST that makes one ES256 signature. One client may ask a hundred
 * times in five minutes, so the limits are raised here, and a key so far from its limit is counted in the
 * background; with every call waiting for the exact count the ratio is about two thirds of this one.
 */
export function benchTokens(): Promise<boolean> {
  return withServer(({ url, bareUrl, clientId, clientSecret }) => {
    const request = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        grant_type: 'client_credentials',
        client_id: clientId,
        client_secret: clientSecret,
        scope: 'customers:read',
      }),
    } as const;
    return compare({
      title: 'tokens: POST /oauth/token ÷ a bare JSON POST with one ES256 signature',
      ours: { url: `${url}/oauth/token`, ...request },
      reference: { url: `${bareUrl}/token`, ...request },
      must: 0.4,
      aim: 0.6,
    });
  });
}
