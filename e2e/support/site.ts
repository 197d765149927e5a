import * as argon2 from '@node-rs/argon2';
import { ensureDashboardBuild } from '../../server/dashboard/build.ts';
import { readDashboardFiles } from '../../server/dashboard/files.ts';
import { createTestApp, type TestApp } from '../../testing/app/app.ts';
import { createFakeClock } from '../../testing/app/fake-clock.ts';
import { findServicePort } from '../../testing/app/serve.ts';

export type Site = { app: TestApp; url: string };

/** The client address that the proxy header reports: a public one, which allowlists accept. */
export const ADDRESS = '198.35.26.96';
export const SUPPORT_EMAIL = 'help@portico.test';
export const SIMULATOR_DELAY_MS = 1_000;

/** The cost of a password hash is no subject of browser tests. */
const LEAST_COST: argon2.Options = { memoryCost: 8, timeCost: 1 };

/** The app with the built dashboard on a port. Its clock stands still until a test advances it. */
export async function createDashboardSite(): Promise<Site> {
  const folder = await ensureDashboardBuild((text) => process.stderr.write(text));
  if (folder === undefined) throw new Error('The dashboard build is missing');
  const port = await findServicePort();
  const url = `http://localhost:${port}`;
  const app = await createTestApp({
    environment: {
      PORTICO_WEBHOOK_ALLOW_PRIVATE: 'true',
      PORTICO_BASE_URL: url,
      PORTICO_TRUSTED_PROXIES: '127.0.0.1/32',
      PORTICO_SUPPORT_EMAIL: SUPPORT_EMAIL,
      PORTICO_SIMULATOR_DELAY: `${SIMULATOR_DELAY_MS / 1000}s`,
      // All logins of a test file happen at the same virtual time.
      PORTICO_RATE_LIMIT_LOGIN_PER_EMAIL: '1000',
      PORTICO_RATE_LIMIT_LOGIN_PER_ADDRESS: '1000',
    },
    clock: createFakeClock(new Date()),
    passwordHasher: {
      ...argon2,
      hash: (password, options) => argon2.hash(password, { ...options, ...LEAST_COST }),
    },
    dashboard: await readDashboardFiles(folder),
  });
  await app.server.listen({ port, host: '127.0.0.1' });
  return { app, url };
}
