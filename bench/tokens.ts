import { compare } from './compare.ts';
import { withServer } from './server-process.ts';

/**
 * `/oauth/token`, compared with a bare Fastify JSON POST that makes one ES256 signature. The rate limits are raised, so
 * that uses are counted in the background; with exact counts the ratio is about two thirds.
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
