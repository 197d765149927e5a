import type { EnvironmentName } from '../../infrastructure/database/tables.ts';
import type { TokenType } from '../claims.ts';

/** The `Host` of a token request selects the environment; an unknown host means sandbox (contract, section 2). */
export type Environments = ReturnType<typeof createEnvironments>;

const DEFAULT_PORTS: Record<string, string> = { 'http:': '80', 'https:': '443' };

export function createEnvironments({
  baseUrl,
  sandboxAuthUrl,
  productionAuthUrl,
}: {
  baseUrl: string;
  sandboxAuthUrl: string;
  productionAuthUrl: string;
}) {
  const productionHosts = hostsOf(productionAuthUrl);

  function issuerOf(environment: EnvironmentName): string {
    return environment === 'production' ? productionAuthUrl : sandboxAuthUrl;
  }

  return {
    ofHost(host: string | undefined): EnvironmentName {
      return host !== undefined && productionHosts.has(host.toLowerCase()) ? 'production' : 'sandbox';
    },
    issuerOf,
    /** User tokens of both environments are issued at the base URL. */
    issuerFor(type: TokenType, environment: EnvironmentName | undefined): string {
      return type === 'user' || environment === undefined ? baseUrl : issuerOf(environment);
    },
  };
}

/** `Host` values of a URL: with and without the default port. */
function hostsOf(address: string): ReadonlySet<string> {
  const { host, port, protocol } = new URL(address);
  return new Set(port === '' ? [host, `${host}:${DEFAULT_PORTS[protocol]}`] : [host]);
}
