import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { canonicalAddress, parseIpv4 } from './ipv4.ts';
import { findSpecialRange } from './special-ranges.ts';

/** The block that IANA assigns to the public Internet; loopback, link-local, private and multicast are outside. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/** Blocks of global unicast that are not public, or that embed an IPv4 address. */
const SPECIAL_BLOCKS = [
  '2001::/23', // protocol assignments (RFC 2928): Teredo, benchmarking, ORCHID
  '2001:db8::/32', // documentation (RFC 3849)
  '2002::/16', // 6to4 (RFC 3056)
  '3fff::/20', // documentation (RFC 9637)
].map((cidr) => ipaddr.IPv6.parseCIDR(cidr));

/** The metadata service of a cloud at a public address (Azure). */
const METADATA_HOSTS: ReadonlySet<number | undefined> = new Set([parseIpv4('168.63.129.16')]);

/** NAT64 (RFC 6052) represents IPv4 hosts in networks without IPv4: the last four bytes are the IPv4 address. */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

/** Whether an address is on the public Internet. False for text that is not an address. */
export function isPublicAddress(address: string): boolean {
  // A zone binds the address to an interface of this machine (RFC 4007, section 11).
  if (isIP(address) === 0 || address.includes('%')) return false;
  // First, because it converts IPv4-mapped addresses to IPv4; ipaddr.js would treat the IPv4-compatible ::8.8.8.8 as
  // mapped.
  const canonical = canonicalAddress(address);
  if (canonical === undefined) return false;
  const ipv4 = parseIpv4(canonical);
  if (ipv4 !== undefined) return isPublicIpv4(ipv4);
  const ipv6 = ipaddr.IPv6.parse(canonical);
  if (ipv6.match(NAT64)) return isPublicIpv4(lastFourBytes(ipv6));
  return ipv6.match(GLOBAL_UNICAST) && !SPECIAL_BLOCKS.some((block) => ipv6.match(block));
}

function isPublicIpv4(address: number): boolean {
  return findSpecialRange(address, address) === undefined && !METADATA_HOSTS.has(address);
}

function lastFourBytes(address: ipaddr.IPv6): number {
  return address
    .toByteArray()
    .slice(-4)
    .reduce((number, byte) => number * 256 + byte, 0);
}
