import { compare } from './compare.ts';
import { withServer } from './server-process.ts';

/** An authenticated `GET` of one object, compared with a bare route that runs the same query. */
export function benchApi(): Promise<boolean> {
  return withServer(async ({ url, bareUrl, clientId, clientSecret, customerGuid }) => {
    const response = await fetch(`${url}/oauth/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        grant_type: 'client_credentials',
        client_id: clientId,
        client_secret: clientSecret,
        scope: 'customers:read',
      }),
    });
    const { access_token: token } = (await response.json()) as { access_token: string };
    return compare({
      title: 'api: GET /api/customers/{guid} with a token ÷ the same bare route with the same query',
      ours: { url: `${url}/api/customers/${customerGuid}`, headers: { authorization: `Bearer ${token}` } },
      reference: {
        url: `${bareUrl}/customers/${customerGuid}`,
        headers: { authorization: `Bearer ${token}` },
      },
      must: 0.7,
      aim: 0.85,
    });
  });
}
