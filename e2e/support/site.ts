import { ensureDashboardBuild } from '../../server/dashboard/build.ts';
import { readDashboardFiles } from '../../server/dashboard/files.ts';
import { createTestApp, type TestApp } from '../../testing/app.ts';
import { createFakeClock } from '../../testing/fake-clock.ts';
import { findServicePort } from '../../testing/serve.ts';

export type Site = { app: TestApp; url: string };

/** Where the browsers are, as a proxy in front of the service would tell: an address that a key's list may hold. */
export const ADDRESS = '198.35.26.96';

/** The whole app with the dashboard as it is built, on a port. Its time stands still at the moment of the start. */
export async function createDashboardSite(environment: Record<string, string> = {}): Promise<Site> {
  const folder = await ensureDashboardBuild((text) => process.stderr.write(text));
  if (folder === undefined) throw new Error('There is no build of the dashboard');
  const port = await findServicePort();
  const url = `http://localhost:${port}`;
  const app = await createTestApp({
    environment: {
      PORTICO_WEBHOOK_ALLOW_PRIVATE: 'true',
      PORTICO_BASE_URL: url,
      PORTICO_TRUSTED_PROXIES: '127.0.0.1/32',
      // A file of tests logs in more often than a person does, and all of it within one moment.
      PORTICO_RATE_LIMIT_LOGIN_PER_EMAIL: '1000',
      PORTICO_RATE_LIMIT_LOGIN_PER_ADDRESS: '1000',
      ...environment,
    },
    clock: createFakeClock(new Date()),
    dashboard: await readDashboardFiles(folder),
  });
  await app.server.listen({ port, host: '127.0.0.1' });
  return { app, url };
}
