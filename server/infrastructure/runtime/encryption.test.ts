import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { createEncryption } from './encryption.ts';
import { Secret } from './secret.ts';

const OLD = new Secret('0a'.repeat(32));
const NEW = new Secret('0b'.repeat(32));

function withKeys(...masterKeys: Secret[]) {
  return createEncryption({ masterKeys, randomBytes });
}

test('any value decrypts to itself', () => {
  const encryption = withKeys(OLD);
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (plaintext, context) => {
      assert.equal(encryption.decrypt(encryption.encrypt(plaintext, context), context), plaintext);
    }),
  );
});

test('the same value encrypts differently each time and is not visible in the ciphertext', () => {
  const encryption = withKeys(OLD);
  const both = [1, 2].map(() => encryption.encrypt('a secret of the partner', 'row 1'));
  assert.ok(!both[0]?.equals(both[1] as Buffer));
  assert.ok(!both[0]?.includes('partner'));
});

test('a ciphertext moved to another context does not decrypt', () => {
  const encryption = withKeys(OLD);
  const ciphertext = encryption.encrypt('value', 'row 1');
  assert.throws(() => encryption.decrypt(ciphertext, 'row 2'));
});

test('a ciphertext with any byte changed, added or missing does not decrypt', () => {
  const encryption = withKeys(OLD);
  const ciphertext = encryption.encrypt('value', 'row');
  for (let i = 0; i < ciphertext.length; i++) {
    const tampered = Buffer.from(ciphertext);
    tampered[i] = (tampered[i] ?? 0) ^ 1;
    assert.throws(() => encryption.decrypt(tampered, 'row'), `byte ${i}`);
    assert.throws(() => encryption.decrypt(ciphertext.subarray(0, i), 'row'), `${i} bytes`);
  }
  assert.throws(() => encryption.decrypt(Buffer.concat([ciphertext, Buffer.alloc(1)]), 'row'));
});

test('a ciphertext names its key by a stable id that reveals nothing about the key', () => {
  const { currentKeyId, encrypt } = withKeys(OLD);
  assert.match(currentKeyId, /^[0-9a-f]{16}$/);
  assert.ok(!OLD.reveal().includes(currentKeyId));
  assert.equal(withKeys(OLD, NEW).currentKeyId, currentKeyId);
  assert.notEqual(withKeys(NEW).currentKeyId, currentKeyId);
  assert.equal(encrypt('value', 'row').toString('hex', 0, 8), currentKeyId);
});

test('a new first key encrypts, and the old one still decrypts', () => {
  const before = withKeys(OLD).encrypt('value', 'row');
  const rotating = withKeys(NEW, OLD);
  assert.equal(rotating.decrypt(before, 'row'), 'value');
  assert.equal(withKeys(NEW).decrypt(rotating.encrypt('value', 'row'), 'row'), 'value');
});

test('re-encryption uses the new key once, after which the old key can be removed', () => {
  const before = withKeys(OLD).encrypt('value', 'row');
  const rotating = withKeys(NEW, OLD);
  const moved = rotating.reencrypt(before, 'row') as Buffer;
  assert.equal(withKeys(NEW).decrypt(moved, 'row'), 'value');
  assert.equal(rotating.reencrypt(moved, 'row'), undefined);
  assert.throws(() => rotating.reencrypt(before, 'another row'));
});

test('a missing key is named by its id only', () => {
  const { currentKeyId, encrypt } = withKeys(OLD);
  assert.throws(() => withKeys(NEW).decrypt(encrypt('value', 'row'), 'row'), new RegExp(currentKeyId));
});

test('derived keys are stable and differ by purpose and by master key', () => {
  const both = withKeys(NEW, OLD);
  const keys = [both.deriveKey('a'), both.deriveKey('b'), both.deriveKey('a', withKeys(OLD).currentKeyId)];
  assert.equal(new Set(keys.map((key) => key?.toString('hex'))).size, 3);
  assert.ok(keys.every((key) => key?.length === 32));
  assert.deepEqual(withKeys(OLD).deriveKey('a'), keys[2]);
  assert.equal(both.deriveKey('a', 'ff'.repeat(8)), undefined);
});

test('a missing master key and one of another length are rejected', () => {
  assert.throws(() => withKeys());
  for (const hex of ['', 'ab', '0a'.repeat(31), '0a'.repeat(33), 'zz'.repeat(32)])
    assert.throws(() => withKeys(new Secret(hex)), /32 bytes/);
});
