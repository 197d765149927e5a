import { BlockList } from 'node:net';
import ipaddr from 'ipaddr.js';
import {
  canonicalAddress,
  type Ipv4Range,
  MAX_ADDRESS_CHARACTERS,
  parseIpv4,
  parseIpv4Range,
  parsePrefix,
} from './ipv4.ts';

/** Hops examined from the right. A longer chain of trusted proxies is a forgery or a loop, and gives no address. */
const MAX_FORWARDED_HOPS = 32;
const MAX_HOP_CHARACTERS = '['.length + MAX_ADDRESS_CHARACTERS + ']:65535'.length;
const IPV6_BITS = 128;
const MAPPED_PREFIX_BITS = 96;

type Ipv6Network = { readonly base: string; readonly prefix: number };

export type SourceAddress = (
  socketAddress: string | undefined,
  forwardedFor: string | string[] | undefined,
) => string | undefined;

/**
 * The address of the caller: the peer of the socket, or, when that peer is a trusted proxy (PORTICO_TRUSTED_PROXIES),
 * the right-most hop of X-Forwarded-For that is not one. Hops further left are written by the caller. Undefined means
 * that no address is trustworthy, and is denied wherever an address is required.
 */
export function createSourceAddress(trustedProxies: readonly string[]): SourceAddress {
  const isTrusted = createTrust(trustedProxies);
  return (socketAddress, forwardedFor) => {
    const peer = socketAddress === undefined ? undefined : canonicalAddress(socketAddress);
    if (peer === undefined || forwardedFor === undefined || !isTrusted(peer)) return peer;
    // Each line holds at least one hop, so lines further left than the limit cannot change the result.
    const header =
      typeof forwardedFor === 'string' ? forwardedFor : forwardedFor.slice(-MAX_FORWARDED_HOPS - 1).join(',');
    const [start, end] = trimmed(header, 0, header.length);
    return start === end ? peer : rightmostUntrusted(header, isTrusted);
  };
}

/** For settings: an IPv4 or IPv6 address, or a CIDR range of either without host bits. */
export function isCidrOrAddress(text: string): boolean {
  return parseNetwork(text) !== undefined;
}

/** By index from the right: the cost depends on the hops examined, not on the length of the header. */
function rightmostUntrusted(header: string, isTrusted: (address: string) => boolean): string | undefined {
  let end = header.length;
  let address: string | undefined;
  for (let hop = 0; hop < MAX_FORWARDED_HOPS; hop++) {
    // lastIndexOf treats position -1 as 0 and would find a comma at 0 again.
    const comma = end === 0 ? -1 : header.lastIndexOf(',', end - 1);
    const [from, to] = trimmed(header, comma + 1, end);
    address = to - from > MAX_HOP_CHARACTERS ? undefined : parseHop(copyOf(header.slice(from, to)));
    if (address === undefined || !isTrusted(address) || comma === -1) return address;
    end = comma;
  }
  return undefined;
}

/** V8 keeps the whole header in memory for a slice of it, and addresses are kept by limits, records and logs. */
function copyOf(slice: string): string {
  return Buffer.from(slice).toString();
}

/** An address as proxies write it: bare, `1.2.3.4:567`, `[2001:db8::1]` or `[2001:db8::1]:567`. */
function parseHop(text: string): string | undefined {
  const [, bracketed, dotted, port] = /^(?:\[([^\]]*:[^\]]*)\]|([\d.]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  if (port !== undefined && Number(port) > 0xffff) return undefined;
  return canonicalAddress(bracketed ?? dotted ?? text);
}

/** Bounds without optional white space (RFC 9110, section 5.6.3). Other spaces are not part of the grammar. */
function trimmed(text: string, start: number, end: number): [start: number, end: number] {
  let from = start;
  let to = end;
  while (from < to && isBlank(text.charCodeAt(from))) from++;
  while (from < to && isBlank(text.charCodeAt(to - 1))) to--;
  return [from, to];
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/**
 * One list per family: a single BlockList would apply the IPv6 range ::/0 to every IPv4 peer as well, and takes ten times
 * as long as a comparison of numbers for IPv4. Settings are validated with `isCidrOrAddress` first, so an invalid entry
 * is a bug.
 */
function createTrust(entries: readonly string[]): (address: string) => boolean {
  if (entries.length === 0) return () => false;
  const ipv4: Ipv4Range[] = [];
  const ipv6 = new BlockList();
  for (const entry of entries) {
    const network = parseNetwork(entry);
    if (network === undefined) throw new Error(`not an address or CIDR range: ${entry}`);
    if ('first' in network) ipv4.push(network);
    else ipv6.addSubnet(network.base, network.prefix, 'ipv6');
  }
  return (address) => {
    const number = parseIpv4(address);
    if (number === undefined) return ipv6.check(address, 'ipv6');
    return ipv4.some(({ first, last }) => first <= number && number <= last);
  };
}

function parseNetwork(text: string): Ipv4Range | Ipv6Network | undefined {
  const range = parseIpv4Range(text);
  if (range !== undefined) return range;
  const slash = text.indexOf('/');
  const address = slash === -1 ? text : text.slice(0, slash);
  const prefix = slash === -1 ? IPV6_BITS : parsePrefix(text.slice(slash + 1), IPV6_BITS);
  const base = canonicalAddress(address);
  // A zone would be dropped silently, and the entry would trust more than it says.
  if (base === undefined || prefix === undefined || !address.includes(':') || address.includes('%'))
    return undefined;
  const parsed = ipaddr.IPv6.parse(address);
  const network = ipaddr.IPv6.networkAddressFromCIDR(`${parsed}/${prefix}`);
  if (network.toString() !== parsed.toString()) return undefined;
  // Mapped with clear host bits means that the prefix is 96 or more.
  return base.includes(':') ? { base, prefix } : parseIpv4Range(`${base}/${prefix - MAPPED_PREFIX_BITS}`);
}
