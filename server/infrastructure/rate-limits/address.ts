import ipaddr from 'ipaddr.js';
import { parseIpv4 } from '../network/ipv4.ts';

/** A subscriber has a whole /64 of IPv6 (RFC 6177), so a limit per address would not limit it. */
const IPV6_NETWORK_BYTES = 8;

/**
 * The key of a limit per address: the address, the network of an IPv6 address, or one key for all unknown addresses.
 */
export function countedAddress(address: string | undefined): string {
  if (address === undefined) return 'unknown';
  if (!address.includes(':') || !ipaddr.isValid(address)) return address;
  const network = ipaddr.parse(address).toByteArray().slice(0, IPV6_NETWORK_BYTES);
  return `${Buffer.from(network).toString('hex')}/64`;
}

const IPV6_SITE_BYTES = 6;

/** The network for fair sharing: a /24 of IPv4, or the /48 that a site may hold of IPv6 (RFC 6177). */
export function networkOf(address: string | undefined): string {
  if (address === undefined) return 'unknown';
  // Most addresses, and of every anonymous request: ipaddr.js takes ten times as long.
  const ipv4 = parseIpv4(address);
  if (ipv4 !== undefined) return `${(ipv4 >>> 8).toString(16).padStart(6, '0')}/24`;
  if (!ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return networkOf(parsed.toString());
  return `${Buffer.from(parsed.toByteArray().slice(0, IPV6_SITE_BYTES)).toString('hex')}/48`;
}
