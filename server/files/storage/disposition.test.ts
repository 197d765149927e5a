import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ANY_CHARACTER } from '../../../testing/api/any-character.ts';
import { attachment } from './disposition.ts';

test('a plain name is given in both forms, another name exactly and in a safe form', () => {
  assert.equal(
    attachment('bill (2).pdf'),
    `attachment; filename="bill (2).pdf"; filename*=UTF-8''bill%20%282%29.pdf`,
  );
  assert.equal(
    attachment('a"b\\c%22.pdf'),
    `attachment; filename="a_b_c_22.pdf"; filename*=UTF-8''a%22b%5Cc%2522.pdf`,
  );
  assert.equal(
    attachment('год.pdf'),
    `attachment; filename="___.pdf"; filename*=UTF-8''%D0%B3%D0%BE%D0%B4.pdf`,
  );
});

test('no name can break out of the header, and the exact form decodes to the name', () => {
  const form =
    /^attachment; filename="([A-Za-z0-9 ._()+,=@-]*)"; filename\*=UTF-8''((?:[A-Za-z0-9!#$&+.^_`|~-]|%[0-9A-F]{2})*)$/;
  fc.assert(
    fc.property(fc.string({ unit: ANY_CHARACTER, maxLength: 128 }), (name) => {
      const [, , encoded] = form.exec(attachment(name)) ?? [];
      assert.equal(decodeURIComponent(encoded ?? '?'), name);
    }),
  );
});
