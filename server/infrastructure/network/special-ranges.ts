import { parseIpv4Range } from './ipv4.ts';

/** A block that is not public. `name` follows "is", as in "10.0.0.1 is private (RFC 1918)". */
export type SpecialRange = {
  readonly cidr: string;
  readonly name: string;
  readonly first: number;
  readonly last: number;
};

/**
 * Specification, Authentication 10: private, loopback, link-local, multicast, reserved, carrier-grade NAT,
 * documentation and benchmarking addresses are rejected. These are the blocks that IANA's IPv4 special-purpose registry
 * (RFC 6890) does not mark as globally reachable, plus multicast. In address order; a nested block follows the outer
 * one.
 */
const SPECIAL_RANGES: readonly SpecialRange[] = [
  specialRange('0.0.0.0/8', 'reserved for "this network" (RFC 791)'),
  specialRange('10.0.0.0/8', 'private (RFC 1918)'),
  specialRange('100.64.0.0/10', 'carrier-grade NAT (RFC 6598)'),
  specialRange('127.0.0.0/8', 'loopback (RFC 1122)'),
  specialRange('169.254.0.0/16', 'link-local (RFC 3927)'),
  specialRange('172.16.0.0/12', 'private (RFC 1918)'),
  specialRange('192.0.0.0/24', 'reserved for protocol assignments (RFC 6890)'),
  specialRange('192.0.2.0/24', 'documentation (RFC 5737)'),
  specialRange('192.88.99.0/24', 'reserved, once the 6to4 relay (RFC 7526)'),
  specialRange('192.168.0.0/16', 'private (RFC 1918)'),
  specialRange('198.18.0.0/15', 'benchmarking (RFC 2544)'),
  specialRange('198.51.100.0/24', 'documentation (RFC 5737)'),
  specialRange('203.0.113.0/24', 'documentation (RFC 5737)'),
  specialRange('224.0.0.0/4', 'multicast (RFC 5771)'),
  specialRange('240.0.0.0/4', 'reserved (RFC 1112)'),
  specialRange('255.255.255.255/32', 'limited broadcast (RFC 919)'),
];

/**
 * The narrowest special range that contains `first` to `last`, or else the first one that overlaps it; undefined when
 * every address from `first` to `last` is public.
 */
export function findSpecialRange(first: number, last: number): SpecialRange | undefined {
  return (
    SPECIAL_RANGES.findLast((special) => special.first <= first && last <= special.last) ??
    SPECIAL_RANGES.find((special) => special.first <= last && first <= special.last)
  );
}

function specialRange(cidr: string, name: string): SpecialRange {
  const range = parseIpv4Range(cidr);
  if (range === undefined) throw new Error(`not a CIDR range: ${cidr}`);
  return { cidr, name, first: range.first, last: range.last };
}
