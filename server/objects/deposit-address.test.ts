import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sandboxAddress } from './deposit-address.ts';

const GUID = '0199e5a4c1b27d3e8f60a1b2c3d4e5f6';
const BECH32 = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';

const FORMS: Record<string, RegExp> = {
  BTC: /^tb1q[02-9ac-hj-np-z]{38}$/,
  ETH: /^0x5a5a5a5a[0-9a-f]{32}$/,
  USDC: /^0x5a5a5a5a[0-9a-f]{32}$/,
  SOL: /^Sandbox[1-9A-HJ-NP-Za-km-z]{36}$/,
  DOGE: /^sandbox-doge-[0-9a-f]{32}$/,
};

test('an address has the form of its asset, depends on the guid and never changes', () => {
  for (const [asset, form] of Object.entries(FORMS)) {
    const address = sandboxAddress(GUID, asset);
    assert.match(address, form);
    assert.equal(sandboxAddress(GUID, asset), address);
    assert.notEqual(sandboxAddress(GUID.replace('0', '1'), asset), address);
  }
});

test('the checksum of a Bitcoin address is valid', () => {
  // BIP 173: the checksum of the whole address is 1.
  const generator = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
  for (let index = 0; index < 50; index++) {
    const address = sandboxAddress(`${index}`.padStart(32, '0'), 'BTC');
    const values = [3, 3, 0, 20, 2, ...[...address.slice(3)].map((letter) => BECH32.indexOf(letter))];
    const checksum = values.reduce((sum, value) => {
      const next = ((sum & 0x1ffffff) << 5) ^ value;
      return generator.reduce((total, word, bit) => ((sum >>> (25 + bit)) & 1 ? total ^ word : total), next);
    }, 1);
    assert.equal(checksum, 1, address);
  }
});

test('a Solana address decodes to 32 bytes', () => {
  const base58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
  const address = sandboxAddress(GUID, 'SOL');
  const value = [...address].reduce((sum, letter) => sum * 58n + BigInt(base58.indexOf(letter)), 0n);
  assert.equal(Math.ceil(value.toString(16).length / 2), 32);
});
