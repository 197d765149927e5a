import type { Context, Figure } from '../runner/benchmark.ts';
import { compareLoads } from './load.ts';
import { startHttpServer } from './server-process.ts';

/** An authenticated `GET` of one object, compared with a bare route that runs the same query. */
export async function benchApi(context: Context): Promise<Figure[]> {
  const { url, bareUrl, clients, customerGuid } = await startHttpServer(context.resources, { clients: 1 });
  const response = await fetch(`${url}/oauth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ grant_type: 'client_credentials', ...clients[0], scope: 'customers:read' }),
  });
  const { access_token: token } = (await response.json()) as { access_token: string };
  const requests = [{ headers: { authorization: `Bearer ${token}` } }];
  const { ratio, ...details } = await compareLoads(
    context,
    { url: `${url}/api/customers/${customerGuid}`, requests },
    { url: `${bareUrl}/customers/${customerGuid}`, requests },
  );
  return [{ name: 'api', value: ratio, details }];
}
