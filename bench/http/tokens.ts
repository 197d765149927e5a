import type { Context, Figure } from '../runner/benchmark.ts';
import { compareLoads } from './load.ts';
import { startHttpServer } from './server-process.ts';

/** So many that none reaches the default limits, each from an address of its own. */
const CLIENTS = 4_096;
const PROXY = { PORTICO_TRUSTED_PROXIES: '127.0.0.1' };

/** `/oauth/token` with the default rate limits, compared with a bare JSON POST that makes one ES256 signature. */
export async function benchTokens(context: Context): Promise<Figure[]> {
  const { resources, progress } = context;
  progress(`creating ${CLIENTS} clients`);
  const { url, bareUrl, clients } = await startHttpServer(resources, { clients: CLIENTS, settings: PROXY });
  const requests = clients.map((client, index) => ({
    headers: {
      'content-type': 'application/json',
      'x-forwarded-for': `203.${index >> 16}.${(index >> 8) & 255}.${index & 255}`,
    },
    body: JSON.stringify({ grant_type: 'client_credentials', ...client, scope: 'customers:read' }),
  }));
  const { ratio, ...details } = await compareLoads(
    context,
    { url: `${url}/oauth/token`, method: 'POST', requests },
    { url: `${bareUrl}/token`, method: 'POST', requests },
  );
  return [{ name: 'tokens', value: ratio, details }];
}
