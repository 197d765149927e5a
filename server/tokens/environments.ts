import type { EnvironmentName } from '../database/tables.ts';

/**
 * The issuer's address selects the environment: the request's `Host` is matched against the two auth URLs,
 * and no match means sandbox (contract, section 2).
 */
export type Environments = ReturnType<typeof createEnvironments>;

const DEFAULT_PORTS: Record<string, string> = { 'http:': '80', 'https:': '443' };

export function createEnvironments({
  sandboxAuthUrl,
  productionAuthUrl,
}: {
  sandboxAuthUrl: string;
  productionAuthUrl: string;
}) {
  const productionHosts = hostsOf(productionAuthUrl);
  return {
    ofHost(host: string | undefined): EnvironmentName {
      return host !== undefined && productionHosts.has(host.toLowerCase()) ? 'production' : 'sandbox';
    },
    issuerOf(environment: EnvironmentName): string {
      return environment === 'production' ? productionAuthUrl : sandboxAuthUrl;
    },
  };
}

/** As clients write it in `Host`: with the default port or without. */
function hostsOf(address: string): ReadonlySet<string> {
  const { host, port, protocol } = new URL(address);
  return new Set(port === '' ? [host, `${host}:${DEFAULT_PORTS[protocol]}`] : [host]);
}
