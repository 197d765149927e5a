import {
  canonicalAddress,
  formatIpv4,
  IPV4_BITS,
  type Ipv4Range,
  parseIpv4,
  parseIpv4Range,
  parsePrefix,
} from '../../../infrastructure/network/ipv4.ts';
import { findSpecialRange } from '../../../infrastructure/network/special-ranges.ts';

/** Specification, Limits: IP allowlist entries, 3 per Application. */
export const MAX_ALLOWLIST_ENTRIES = 3;

/** Bound on the part of an invalid entry that the error message quotes. */
const MAX_SHOWN_CHARACTERS = 64;
/** Longer entries are not analysed: no address or range is that long. */
const MAX_EXPLAINED_CHARACTERS = 64;

/** `entry` is escaped for display. */
export type AllowlistProblem = { readonly index: number; readonly entry: string; readonly message: string };

/**
 * Specification, Authentication 10, and contract, section 6: at most three entries, each a public IPv4 address or CIDR range
 * of at least `minPrefix` bits, without duplicates. Returns the entries unchanged, or the first problem.
 */
export function parseAllowlist(
  entries: readonly string[],
  { minPrefix }: { minPrefix: number },
): string[] | AllowlistProblem {
  // Checked first, to bound the work on a long list.
  if (entries.length > MAX_ALLOWLIST_ENTRIES) {
    const surplus = entries[MAX_ALLOWLIST_ENTRIES] ?? '';
    const why = `is one entry too many; at most ${MAX_ALLOWLIST_ENTRIES} are allowed`;
    return problem(MAX_ALLOWLIST_ENTRIES, surplus, why);
  }
  const ranges: Ipv4Range[] = [];
  for (const [index, entry] of entries.entries()) {
    const range = parseIpv4Range(entry);
    if (range === undefined) return problem(index, entry, explainSyntax(entry));
    const refusal = explainNotPublic(range);
    if (refusal !== undefined) return problem(index, entry, `${refusal}; every address must be public`);
    if (range.last - range.first >= 2 ** (IPV4_BITS - minPrefix))
      return problem(index, entry, `is wider than /${minPrefix}, the widest range that is accepted`);
    const twin = ranges.findIndex(({ first, last }) => first === range.first && last === range.last);
    if (twin !== -1) return problem(index, entry, `is the same network as ip_allowlist[${twin}]`);
    ranges.push(range);
  }
  return [...entries];
}

/**
 * Check of the source address of every API call. An empty list allows every address (specification, Resources); otherwise
 * an unreadable entry matches nothing and a missing address is denied.
 */
export function compileAllowlist(entries: readonly string[]): (address: string | undefined) => boolean {
  if (entries.length === 0) return () => true;
  const ranges = entries.map(parseIpv4Range).filter((range) => range !== undefined);
  return (address) => {
    if (address === undefined) return false;
    const source = parseIpv4(address) ?? parseIpv4(canonicalAddress(address) ?? '');
    if (source === undefined) return false;
    for (const range of ranges) if (range.first <= source && source <= range.last) return true;
    return false;
  };
}

/** Describes why `parseIpv4Range` refused a text, as the predicate of a sentence. Runs only for refused entries. */
function explainSyntax(text: string): string {
  if (text === '') return 'is empty';
  if (text.length > MAX_EXPLAINED_CHARACTERS) return 'is too long to be an IPv4 address or CIDR range';
  if (/\s/.test(text)) return 'contains whitespace';
  const [address = '', prefix, ...more] = text.split('/');
  const canonical = canonicalAddress(address);
  if (address.includes(':') && canonical !== undefined) {
    return canonical.includes(':')
      ? 'is IPv6; only IPv4 is accepted'
      : 'is IPv4-mapped IPv6; write the IPv4 address itself';
  }
  if (more.length > 0) return 'has more than one prefix length';
  return explainAddress(address) ?? explainPrefix(prefix) ?? explainHostBits(address, Number(prefix));
}

function explainAddress(address: string): string | undefined {
  const octets = address.split('.');
  if (octets.some((octet) => /^0x[0-9a-f]*$/i.test(octet))) return 'has a hexadecimal octet';
  if (parseIpv4(address.split(':', 1)[0] ?? '') !== undefined && address.includes(':')) return 'has a port';
  if (!/^[\d.]+$/.test(address)) return 'is not an IPv4 address or CIDR range';
  if (octets.includes('')) return 'has an empty octet';
  if (octets.length < 4) return 'has fewer than four octets';
  if (octets.length > 4) return 'has more than four octets';
  if (octets.some((octet) => /^0\d/.test(octet)))
    return 'has an octet with a leading zero (read as octal by some)';
  if (octets.some((octet) => Number(octet) > 255)) return 'has an octet over 255';
  return undefined;
}

function explainPrefix(prefix: string | undefined): string | undefined {
  if (prefix === undefined || parsePrefix(prefix, IPV4_BITS) !== undefined) return undefined;
  if (prefix === '') return 'has no prefix length after the slash';
  if (!/^\d+$/.test(prefix)) return 'has a prefix length that is not a plain decimal number';
  if (/^0\d/.test(prefix)) return 'has a prefix length with a leading zero';
  return 'has a prefix length over 32';
}

function explainHostBits(address: string, prefix: number): string {
  const size = 2 ** (IPV4_BITS - prefix);
  const network = Math.floor((parseIpv4(address) ?? 0) / size) * size;
  return `has host bits set; the network is ${formatIpv4(network)}/${prefix}`;
}

function explainNotPublic({ first, last }: Ipv4Range): string | undefined {
  const special = findSpecialRange(first, last);
  if (special === undefined) return undefined;
  const inside = special.first <= first && last <= special.last;
  return inside ? `is ${special.name}` : `overlaps ${special.cidr}, which is ${special.name}`;
}

function problem(index: number, entry: string, why: string): AllowlistProblem {
  const shown = showEntry(entry);
  return { index, entry: shown, message: `ip_allowlist[${index}] "${shown}" ${why}` };
}

/** Escapes everything but printable ASCII: control characters could forge log lines, lookalikes could disguise the entry. */
function showEntry(entry: string): string {
  let shown = '';
  for (let index = 0; index < entry.length; index++) {
    const piece = showCodeUnit(entry.charAt(index));
    if (shown.length + piece.length >= MAX_SHOWN_CHARACTERS) return `${shown}…`;
    shown += piece;
  }
  return shown;
}

function showCodeUnit(unit: string): string {
  if (unit === '"' || unit === '\\') return `\\${unit}`;
  if (unit >= ' ' && unit <= '~') return unit;
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
