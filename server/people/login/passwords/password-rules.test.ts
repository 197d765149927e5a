import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkPasswordStrength } from './password-rules.ts';

const EMAIL = 'long.mailbox.name@partner.example';

test('twelve to 128 characters are accepted, whatever they are', () => {
  for (const password of [
    'correct horse battery staple',
    'Tr0ub4dor&3xyz',
    'xxxxxxyyyyyyz',
    'пароль достаточной длины',
    '🐴🔋📎✅🐴🔋📎✅🐴🔋📎🎉',
    ' leading and trailing ',
    `${'ab1'.repeat(42)}zz`,
  ])
    assert.equal(checkPasswordStrength(password, EMAIL), undefined, password);
});

test('shorter and longer ones are not; characters count, not bytes', () => {
  for (const password of ['', 'elevenchars', '🐴🔋📎✅🐴🔋📎✅🐴🔋📎', 'x1'.repeat(65)])
    assert.equal(checkPasswordStrength(password, EMAIL)?.code, 'password_too_weak', password);
});

test('neither the address nor what stands before its @', () => {
  for (const password of [EMAIL, EMAIL.toUpperCase(), 'long.mailbox.name', 'Long.Mailbox.Name'])
    assert.match(checkPasswordStrength(password, EMAIL)?.message ?? '', /email address/, password);
});

test('none that everybody tries first: as they are, repeated, or with digits and signs around them', () => {
  for (const password of [
    '123456789012',
    'qwerty123456',
    'Administrator',
    'passwordpassword',
    '123456123456',
    'Password2026!',
    '!!!password123!!!',
    '1111111111111',
    'monkeymonkey',
  ])
    assert.match(checkPasswordStrength(password, EMAIL)?.message ?? '', /tried first/, password);
});
