/** A block of IPv4 addresses, both ends included, as unsigned 32-bit numbers. */
export type Ipv4Range = { readonly first: number; readonly last: number; readonly prefix: number };

export const IPV4_BITS = 32;
const SHORTEST_ADDRESS = '0.0.0.0'.length;
const LONGEST_ADDRESS = '255.255.255.255'.length;
const LONGEST_RANGE = '255.255.255.255/32'.length;
/** An IPv6 address (45), `%` and a zone (40); longer text is not an address. */
export const MAX_ADDRESS_CHARACTERS = 86;
/** IPv4-mapped IPv6 as Node writes it (RFC 5952, section 5). */
const MAPPED_START = '::ffff:';

const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;

/**
 * Exactly four decimal octets. Leading zeros are rejected because some parsers read them as octal: 010.0.0.1 would be
 * 8.0.0.1 to one and 10.0.0.1 to another (RFC 6943, section 3.1.1). Runs for every request, hence one pass without
 * allocation.
 */
export function parseIpv4(text: string): number | undefined {
  if (text.length < SHORTEST_ADDRESS || text.length > LONGEST_ADDRESS) return undefined;
  let address = 0;
  let octets = 0;
  let octet = 0;
  let digits = 0;
  for (let index = 0; index <= text.length; index++) {
    const code = index === text.length ? DOT : text.charCodeAt(index);
    if (code === DOT) {
      if (digits === 0) return undefined;
      // Multiplied, because a shift would make addresses from 128.0.0.0 negative.
      address = address * 256 + octet;
      octets++;
      octet = 0;
      digits = 0;
      continue;
    }
    if (code < ZERO || code > NINE) return undefined;
    if (digits > 0 && octet === 0) return undefined;
    octet = octet * 10 + (code - ZERO);
    if (octet > 255) return undefined;
    digits++;
  }
  return octets === 4 ? address : undefined;
}

export function formatIpv4(address: number): string {
  return `${address >>> 24}.${(address >>> 16) & 255}.${(address >>> 8) & 255}.${address & 255}`;
}

/** A single address (a range of one) or a CIDR block whose host bits are clear (RFC 4632, section 3.1). */
export function parseIpv4Range(text: string): Ipv4Range | undefined {
  if (text.length > LONGEST_RANGE) return undefined;
  const slash = text.indexOf('/');
  const first = parseIpv4(slash === -1 ? text : text.slice(0, slash));
  const prefix = slash === -1 ? IPV4_BITS : parsePrefix(text.slice(slash + 1), IPV4_BITS);
  if (first === undefined || prefix === undefined) return undefined;
  const size = 2 ** (IPV4_BITS - prefix);
  if (first % size !== 0) return undefined;
  return { first, last: first + size - 1, prefix };
}

/** Plain decimal: no sign, no leading zero, no netmask. */
export function parsePrefix(text: string, longest: number): number | undefined {
  if (!/^(?:0|[1-9]\d{0,2})$/.test(text)) return undefined;
  const prefix = Number(text);
  return prefix <= longest ? prefix : undefined;
}

/**
 * One spelling per address: IPv4 as four octets, IPv4-mapped IPv6 (RFC 4291, section 2.5.5.2) as IPv4, other IPv6 as in
 * RFC 5952, without the zone, which is local to a machine (RFC 4007, section 6).
 */
export function canonicalAddress(text: string): string | undefined {
  if (text.length > MAX_ADDRESS_CHARACTERS) return undefined;
  if (parseIpv4(text) !== undefined) return text;
  // A dual-stack socket reports every IPv4 peer in this form, so it has a fast path.
  if (text.startsWith(MAPPED_START) && parseIpv4(text.slice(MAPPED_START.length)) !== undefined) {
    return text.slice(MAPPED_START.length);
  }
  // These characters cannot leave the brackets, so the URL parser sees an IPv6 address or fails. It is several times
  // faster than net.SocketAddress or ipaddr.js, and this runs for every request.
  const address = /^([0-9a-f:.]+)(?:%[0-9a-z._~-]+)?$/i.exec(text)?.[1];
  if (address === undefined || !address.includes(':')) return undefined;
  const canonical = URL.parse(`http://[${address}]`)?.hostname.slice(1, -1);
  const mapped = canonical === undefined ? null : /^::ffff:([0-9a-f]+):([0-9a-f]+)$/.exec(canonical);
  if (mapped === null) return canonical;
  return formatIpv4(Number.parseInt(`${mapped[1]}`, 16) * 0x10000 + Number.parseInt(`${mapped[2]}`, 16));
}
