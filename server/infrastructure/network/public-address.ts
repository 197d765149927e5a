import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { canonicalAddress, parseIpv4 } from './ipv4.ts';
import { findSpecialRange } from './special-ranges.ts';

/** All that IANA gives to the public Internet: loopback, link-local, private and multicast lie outside. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/** Blocks of global unicast that are not public, or that lead to an IPv4 address of the sender's choice. */
const SPECIAL_BLOCKS = [
  '2001::/23', // protocol assignments (RFC 2928): Teredo, benchmarking, ORCHID
  '2001:db8::/32', // documentation (RFC 3849)
  '2002::/16', // 6to4 (RFC 3056)
  '3fff::/20', // documentation (RFC 9637)
].map((cidr) => ipaddr.IPv6.parseCIDR(cidr));

/** The metadata service of a cloud at an address that is public by its number (Azure). */
const METADATA_HOSTS: ReadonlySet<number | undefined> = new Set([parseIpv4('168.63.129.16')]);

/** NAT64 (RFC 6052), how a network without IPv4 sees IPv4 hosts: the last four bytes are the one reached. */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

/** Whether an address leads to the public Internet. Whatever is not plainly an address does not. */
export function isPublicAddress(address: string): boolean {
  // With a zone it is bound to an interface of this machine (RFC 4007, 11).
  if (isIP(address) === 0 || address.includes('%')) return false;
  // First, because it makes IPv4 of IPv4-mapped, which is what is reached; and because ipaddr.js would
  // take the IPv4-compatible ::8.8.8.8 for mapped.
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
