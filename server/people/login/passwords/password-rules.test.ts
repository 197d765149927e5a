import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkPasswordStrength } from './password-rules.ts';

const EMAIL = 'long.mailbox.name@partner.example';

test('twelve to 128 characters of any kind are accepted', () => {
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

test('shorter and longer passwords are refused, counted in characters, not bytes', () => {
  for (const password of ['', 'elevenchars', '🐴🔋📎✅🐴🔋📎✅🐴🔋📎', 'x1'.repeat(65)])
    assert.equal(checkPasswordStrength(password, EMAIL)?.code, 'password_too_weak', password);
});

test('the email address and its local part are refused', () => {
  for (const password of [EMAIL, EMAIL.toUpperCase(), 'long.mailbox.name', 'Long.Mailbox.Name'])
    assert.match(checkPasswordStrength(password, EMAIL)?.message ?? '', /email address/, password);
});

test('common passwords are refused: as is, repeated, or between digits and symbols', () => {
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
    assert.match(checkPasswordStrength(password, EMAIL)?.message ?? '', /too common/, password);
});

test('passwords are checked in the form that is hashed', () => {
  const fullWidth = (text: string) =>
    text.replace(/[!-~]/g, (sign) => String.fromCodePoint((sign.codePointAt(0) as number) + 0xfee0));
  assert.match(checkPasswordStrength(fullWidth('Password2026!'), EMAIL)?.message ?? '', /too common/);
  assert.match(checkPasswordStrength(fullWidth(EMAIL), EMAIL)?.message ?? '', /email address/);
  const composed = '\u{e9}'.repeat(6);
  assert.match(checkPasswordStrength(composed.normalize('NFD'), EMAIL)?.message ?? '', /at least 12/);
  // One character, of 18 in the form that is hashed.
  assert.match(checkPasswordStrength(`\u{fdfa}`.repeat(12), EMAIL)?.message ?? '', /at most 128/);
});
