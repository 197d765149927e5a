import { canonicalAddress } from '../network/ipv4.ts';
import type { GivenSettings } from './settings.ts';

/** The settings that expose the service to other machines, and the effect on local defaults. */
export type Exposure = {
  /** The settings that are not loopback, in the form in which they can be set. */
  exposedBy: readonly string[];
  /** Local defaults that are disabled. */
  off: readonly string[];
  /** Explicit settings that apply although they are unsafe here. */
  unsafe: readonly string[];
};

type Addresses = { host: string; operatorHost: string; baseUrl: string; embedded: boolean };

/** Undefined while both listeners and the base URL are loopback. */
export function exposureOf(given: GivenSettings, addresses: Addresses): Exposure | undefined {
  const exposedBy = exposedAddresses(addresses);
  if (exposedBy.length === 0) return undefined;
  // With a shared database none of these is enabled by default.
  const off = addresses.embedded
    ? [
        ...(given.demo === undefined ? ['the demo (PORTICO_DEMO)'] : []),
        ...(given.allowlistPolicy === undefined
          ? ['keys without an IP allowlist (PORTICO_ALLOWLIST_POLICY)']
          : []),
        ...(given.webhookAllowPrivate === undefined
          ? ['webhooks to private addresses (PORTICO_WEBHOOK_ALLOW_PRIVATE)']
          : []),
        'password reset links in the log',
      ]
    : [];
  const unsafe = [
    ...(given.demo === true ? ['PORTICO_DEMO=true'] : []),
    ...(given.allowlistPolicy === 'optional' ? ['PORTICO_ALLOWLIST_POLICY=optional'] : []),
    ...(given.webhookAllowPrivate === true ? ['PORTICO_WEBHOOK_ALLOW_PRIVATE=true'] : []),
  ];
  return { exposedBy, off, unsafe };
}

function exposedAddresses({ host, operatorHost, baseUrl }: Addresses): string[] {
  return [
    ...(isLoopback(host) ? [] : [`PORTICO_HOST=${host}`]),
    ...(isLoopback(new URL(baseUrl).hostname) ? [] : [`PORTICO_BASE_URL=${baseUrl}`]),
    ...(isLoopback(operatorHost) ? [] : [`PORTICO_OPERATOR_HOST=${operatorHost}`]),
  ];
}

/** Names are not resolved: only those that RFC 6761, section 6.3, reserves for loopback count. */
function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  if (name === 'localhost' || name.endsWith('.localhost')) return true;
  const address = canonicalAddress(name);
  return address === '::1' || (address?.startsWith('127.') ?? false);
}
