import { ConfigurationError } from '../errors.ts';
import type { Environment } from './tokens.ts';

/** The addresses of the local demo. An operator who publishes this package puts the addresses of the service here. */
const ADDRESSES: Readonly<Record<Environment, { baseUrl: string; authUrl: string }>> = {
  sandbox: { baseUrl: 'http://localhost:4000', authUrl: 'http://localhost:4000' },
  production: { baseUrl: 'http://localhost:4000', authUrl: 'http://production.localhost:4000' },
};

/** Where the sandbox issuer is not named, it has the address of the API; the production issuer never has. */
export function addressesOf(
  environment: Environment,
  { baseUrl, authUrl }: { baseUrl?: string | undefined; authUrl?: string | undefined },
): { baseUrl: string; authUrl: string } {
  const known = ADDRESSES[environment];
  if (!known) throw new ConfigurationError('environment must be sandbox or production');
  if (baseUrl !== undefined && authUrl === undefined && environment === 'production')
    throw new ConfigurationError('authUrl is required for production: the address of its token issuer');
  return {
    baseUrl: checked('baseUrl', baseUrl ?? known.baseUrl),
    authUrl: checked('authUrl', authUrl ?? baseUrl ?? known.authUrl),
  };
}

/** Without the slash at its end, which paths begin with. */
function checked(name: string, address: string): string {
  if (!/^https?:\/\/[^/?#]+\/*$/.test(address))
    throw new ConfigurationError(`${name} must be an address such as https://api.example.com`);
  return address.replace(/\/+$/, '');
}
