/**
 * Second implementation of the allowlist rules, for tests only: addresses as strings of 32 bits, ranges as their leading
 * bits. Two CIDR ranges overlap if the bits of one are a prefix of the bits of the other.
 */
const SPECIAL_BITS = [
  '00000000', // 0.0.0.0/8
  '00001010', // 10.0.0.0/8
  '0110010001', // 100.64.0.0/10
  '01111111', // 127.0.0.0/8
  '1010100111111110', // 169.254.0.0/16
  '101011000001', // 172.16.0.0/12
  '110000000000000000000000', // 192.0.0.0/24
  '110000000000000000000010', // 192.0.2.0/24
  '110000000101100001100011', // 192.88.99.0/24
  '1100000010101000', // 192.168.0.0/16
  '110001100001001', // 198.18.0.0/15
  '110001100011001101100100', // 198.51.100.0/24
  '110010110000000001110001', // 203.0.113.0/24
  '1110', // 224.0.0.0/4
  '1111', // 240.0.0.0/4, and 255.255.255.255 in it
] as const;

const OCTET = '(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])';
const ENTRY = new RegExp(`^${OCTET}[.]${OCTET}[.]${OCTET}[.]${OCTET}(?:/(3[0-2]|[12]?[0-9]))?$`);

/** Leading bits of an address or range; undefined if it is malformed. */
function referenceBits(entry: string): string | undefined {
  const match = ENTRY.exec(entry);
  if (match === null) return undefined;
  const bits = match.slice(1, 5).map((octet) => BigInt(octet).toString(2).padStart(8, '0'));
  const prefix = match[5] === undefined ? 32 : Number.parseInt(match[5], 10);
  const all = bits.join('');
  return all.slice(prefix).includes('1') ? undefined : all.slice(0, prefix);
}

export function referenceAccepts(entry: string): boolean {
  const bits = referenceBits(entry);
  if (bits === undefined) return false;
  return !SPECIAL_BITS.some((special) => special.startsWith(bits) || bits.startsWith(special));
}

/** Addresses at which the result may change: both ends of each special range and their neighbours. */
export function referenceBoundaries(): string[] {
  const ends = SPECIAL_BITS.flatMap((bits) => {
    const first = BigInt(`0b${bits.padEnd(32, '0')}`);
    const last = BigInt(`0b${bits.padEnd(32, '1')}`);
    return [first - 1n, first, last, last + 1n];
  });
  return ends.filter((end) => end >= 0n && end < 1n << 32n).map((end) => end.toString(2).padStart(32, '0'));
}

/** Range of this prefix length that contains the address. */
export function referenceRange(bits: string, prefix: number): string {
  const network = bits.slice(0, prefix).padEnd(32, '0');
  const octets = network.match(/.{8}/g)?.map((octet) => Number.parseInt(octet, 2));
  return `${octets?.join('.')}/${prefix}`;
}
