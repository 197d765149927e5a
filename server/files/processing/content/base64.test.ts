import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeBase64, InvalidBase64 } from './base64.ts';

const decode = async (data: string) => Buffer.concat(await Array.fromAsync(decodeBase64([data])));

async function problemOf(data: string): Promise<string> {
  let problem = '';
  await assert.rejects(decode(data), (error) => {
    assert.ok(error instanceof InvalidBase64, String(error));
    problem = error.message;
    return true;
  });
  return problem;
}

test('the test vectors of RFC 4648 decode', async () => {
  const vectors = { '': '', 'Zg==': 'f', 'Zm8=': 'fo', Zm9v: 'foo', 'Zm9vYg==': 'foob', 'Zm9vYmE=': 'fooba' };
  for (const [data, text] of Object.entries(vectors)) {
    assert.equal((await decode(data)).toString(), text);
  }
});

test('encoded content decodes completely across block boundaries', async () => {
  for (const size of [49_151, 49_152, 49_153, 49_154, 200_000]) {
    const content = randomBytes(size);
    assert.ok((await decode(content.toString('base64'))).equals(content));
  }
});

test('wrong or missing padding is refused', async () => {
  const missing = ['Zg', 'Zg=', 'Zm8', 'Z', 'Zm9v=', 'Zm9vZ'];
  const misplaced = ['Zg===', '====', 'Z===', '=Zm9', 'Zg==Zg==', 'Zm8=Zm9v', 'Zm=v'];
  for (const data of [...missing, ...misplaced])
    assert.match(await problemOf(data), /padded with = only at its end, to a multiple of four/, data);
});

test('line breaks are refused with their position', async () => {
  assert.equal(
    await problemOf('Zm9v\nZm9'),
    'must be base64 without line breaks; found a line break at character 5',
  );
  assert.match(await problemOf('Zm9v\r\nZm9v\r\n'), /line break at character 5$/);
  assert.match(await problemOf('Zm9vZm9v\n'), /line break at character 9$/);
  const far = `${'A'.repeat(70_000)}\nAAA`;
  assert.match(await problemOf(far), /line break at character 70001$/);
});

test('the prefix of a data URL is refused by name', async () => {
  assert.match(await problemOf('data:image/png;base64,iVBORw0KGgo='), /without the prefix of a data URL$/);
  assert.match(await problemOf('DATA:,AAAA'), /without the prefix of a data URL$/);
});

test('the URL-safe alphabet and other characters are refused', async () => {
  assert.match(await problemOf('AA-_'), /standard base64 alphabet .* found - at character 3$/);
  assert.match(await problemOf('AA_A'), /found _ at character 3$/);
  for (const data of ['Zm 9', ' Zm9', 'Zm9\0', 'Zm9é', 'Zm9\ud83d', 'Zm%3', '!!!!'])
    assert.match(await problemOf(data), /^must be base64; character \d is not in its alphabet$/, data);
});

test('unused bits must be zero, so that each content has one encoding', async () => {
  for (const data of ['Zh==', 'Zm9=', 'Zm9vYh=='])
    assert.match(await problemOf(data), /unused bits of its last character must be zero$/);
});

test('exactly canonical base64 is accepted', async () => {
  const text = fc.string({ unit: fc.constantFrom(...'AZaz09+/=-_ \n'), maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(text, async (data) => {
      const isStrict = Buffer.from(data, 'base64').toString('base64') === data;
      const accepted = await decode(data).then(
        () => true,
        () => false,
      );
      assert.equal(accepted, isStrict);
    }),
    { numRuns: 500 },
  );
});

test('the text may come in pieces of any length', async () => {
  const content = randomBytes(200_000);
  const data = content.toString('base64');
  for (const length of [1, 3, 4_097, 65_535, 65_537]) {
    const pieces = Array.from({ length: Math.ceil(data.length / length) }, (_, index) =>
      data.slice(index * length, (index + 1) * length),
    );
    assert.ok(Buffer.concat(await Array.fromAsync(decodeBase64(pieces))).equals(content));
  }
});

test('padding ends the text, also at the end of a block', async () => {
  const block = `${'A'.repeat(65_534)}==`;
  assert.match(await problemOf(`${block}AAAA`), /padded with = only at its end/);
  assert.equal((await decode(block)).length, 49_150);
});

test('content is decoded in small blocks', async () => {
  const data = Buffer.alloc(7_864_320, 1).toString('base64');
  assert.equal(data.length, 10_485_760);
  let size = 0;
  for await (const piece of decodeBase64([data])) {
    assert.ok(piece.length <= 49_152);
    size += piece.length;
  }
  assert.equal(size, 7_864_320);
});
