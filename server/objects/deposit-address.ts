import { createHash } from 'node:crypto';
import { Failure } from '../infrastructure/runtime/failure.ts';
import type { Details } from './machine.ts';
import { ASSETS } from './market/catalogue.ts';

const BECH32 = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
/** With 36 more characters this decodes to 32 bytes, as Solana requires. */
const SOLANA_PREFIX = 'Sandbox';
const SOLANA_REST = 36;
const ETHEREUM_PREFIX = '0x5a5a5a5a';

/** An asset outside of the catalogue may be one that has addresses. */
export function refuseFiat({ asset }: Details): Failure | undefined {
  if (!ASSETS.some(({ code, type }) => code === asset && type === 'fiat')) return undefined;
  return new Failure(
    'no_object',
    `account_guid must be the guid of an account with a crypto asset, for example BTC; this account has ${asset}`,
  );
}

/** An address in the form of the asset, recognizably of the sandbox and always the same for one guid. */
export function sandboxAddress(guid: string, asset: string): string {
  const bytes = createHash('sha256').update(guid).digest();
  switch (asset) {
    case 'BTC':
      return testnetAddress(bytes.subarray(0, 20));
    case 'ETH':
    case 'USDC':
    case 'USDT':
      return ETHEREUM_PREFIX + bytes.toString('hex').slice(0, 32);
    case 'SOL':
      return SOLANA_PREFIX + base58(bytes).slice(-SOLANA_REST);
    default:
      return `sandbox-${asset.toLowerCase()}-${bytes.toString('hex').slice(0, 32)}`;
  }
}

/** Digits with the least significant last; 32 bytes have at least 36 of them. */
function base58(bytes: Buffer): string {
  let rest = BigInt(`0x${bytes.toString('hex')}`);
  let text = '';
  for (let count = 0; count < SOLANA_REST; count++) {
    text = BASE58[Number(rest % 58n)] + text;
    rest /= 58n;
  }
  return text;
}

/** A witness program of version 0 on the test network, in Bech32 (BIP 173). */
function testnetAddress(program: Uint8Array): string {
  const data = [0, ...toFiveBits(program)];
  const checksum = polymod([...EXPANDED_PREFIX, ...data, 0, 0, 0, 0, 0, 0]) ^ 1;
  const signs = [5, 4, 3, 2, 1, 0].map((place) => (checksum >>> (5 * place)) & 31);
  return `tb1${[...data, ...signs].map((value) => BECH32[value]).join('')}`;
}

/** `tb`: the high bits of each character, a zero, the low bits. */
const EXPANDED_PREFIX = [3, 3, 0, 20, 2];
const GENERATOR = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];

function polymod(values: readonly number[]): number {
  let checksum = 1;
  for (const value of values) {
    const top = checksum >>> 25;
    checksum = ((checksum & 0x1ffffff) << 5) ^ value;
    for (const [bit, word] of GENERATOR.entries()) if ((top >>> bit) & 1) checksum ^= word;
  }
  return checksum;
}

function toFiveBits(bytes: Uint8Array): number[] {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{5}/g) ?? []).map((five) => Number.parseInt(five, 2));
}
