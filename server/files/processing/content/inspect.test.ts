import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { inspectContent } from './inspect.ts';
import { jpeg, mp4, pdf, png, pngChunk } from './testing/samples.ts';

const MAX_BYTES = 64 * 1_048_576;

function inspect(content: Buffer, declaredType: string, { maxBytes = MAX_BYTES, pieceBytes = 65_536 } = {}) {
  const pieces = [];
  for (let start = 0; start < content.length; start += pieceBytes)
    pieces.push(content.subarray(start, start + pieceBytes));
  return inspectContent({ content: Readable.from(pieces), declaredType, maxBytes });
}

async function problemOf(content: Buffer, declaredType: string) {
  return (await inspect(content, declaredType)).problem;
}

const SAMPLES = {
  'image/jpeg': jpeg,
  'image/png': png(),
  'application/pdf': pdf,
  'video/mp4': mp4('isom'),
  'application/json': Buffer.from('{"a": [1, "é"]}'),
};

test('content of its declared type passes, with size and SHA-256', async () => {
  for (const [type, content] of Object.entries(SAMPLES))
    assert.deepEqual(await inspect(content, type), {
      size: content.length,
      sha256: createHash('sha256').update(content).digest('hex'),
    });
});

test('content does not pass as another type', async () => {
  for (const [type, content] of Object.entries(SAMPLES))
    for (const declared of Object.keys(SAMPLES))
      assert.equal(
        await problemOf(content, declared),
        type === declared ? undefined : 'content_type_mismatch',
      );
});

test('a type outside the list never passes', async () => {
  assert.equal(await problemOf(Buffer.from('GIF89a'), 'image/gif'), 'content_type_mismatch');
  assert.equal(await problemOf(png(), 'toString'), 'content_type_mismatch');
});

test('chunk boundaries do not matter', async () => {
  for (const [type, content] of Object.entries(SAMPLES))
    assert.deepEqual(await inspect(content, type, { pieceBytes: 1 }), await inspect(content, type));
});

test('an empty file is reported as empty for every declared type', async () => {
  for (const type of Object.keys(SAMPLES)) {
    const inspection = await inspect(Buffer.alloc(0), type);
    assert.deepEqual(inspection, {
      size: 0,
      sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
      problem: 'empty',
    });
  }
});

test('content of the maximum size passes; one byte more is too large and the rest is not read', async () => {
  const content = png();
  assert.equal((await inspect(content, 'image/png', { maxBytes: content.length })).problem, undefined);
  assert.deepEqual(await inspect(content, 'image/png', { maxBytes: content.length - 1 }), {
    problem: 'too_large',
  });
  const endless = new Readable({
    read() {
      this.push(Buffer.alloc(65_536));
    },
  });
  const inspection = await inspectContent({
    content: endless,
    declaredType: 'image/png',
    maxBytes: 1_000_000,
  });
  assert.deepEqual(inspection, { problem: 'too_large' });
  assert.ok(endless.destroyed);
});

test('a script inside a PNG does not make it a PDF, and it stays a PNG', async () => {
  const script = Buffer.from('tEXt\0<script>alert(1)</script>%PDF-1.7');
  const polyglot = png(pngChunk('tEXt', script));
  assert.equal(await problemOf(polyglot, 'application/pdf'), 'content_type_mismatch');
  assert.equal(await problemOf(polyglot, 'image/png'), undefined);
});

test('the type is decided by the start of the content, not by a later part', async () => {
  const before = (prefix: Buffer | string, content: Buffer = pdf) =>
    Buffer.concat([Buffer.from(prefix as string), content]);
  const id3 = Buffer.concat([Buffer.from('ID3\x04\0\0\0\0\0\x0a', 'latin1'), Buffer.alloc(10)]);
  for (const prefix of [
    id3,
    Buffer.from([0xef, 0xbb, 0xbf]),
    '\n',
    'MZ',
    '<html>',
    'PK\x03\x04',
    '#!/bin/sh\n',
  ])
    assert.equal(await problemOf(before(prefix), 'application/pdf'), 'content_type_mismatch');
  assert.equal(await problemOf(before(id3, png()), 'image/png'), 'content_type_mismatch');
});

test('a PNG with a large profile and an animated PNG are PNGs', async () => {
  assert.equal(await problemOf(png(pngChunk('iCCP', Buffer.alloc(2_000_000))), 'image/png'), undefined);
  assert.equal(await problemOf(png(pngChunk('acTL', Buffer.alloc(8))), 'image/png'), undefined);
});

test('an MP4 needs an MP4 brand', async () => {
  for (const brand of ['isom', 'iso6', 'mp41', 'mp42', 'avc1', 'dash', 'MSNV', 'M4V '])
    assert.equal(await problemOf(mp4(brand), 'video/mp4'), undefined, brand);
  for (const brand of ['qt  ', '3gp5', 'heic', 'avif', 'M4A ', 'M4B ', 'crx ', '\0\0\0\0'])
    assert.equal(await problemOf(mp4(brand), 'video/mp4'), 'content_type_mismatch', brand);
});

test('a signature alone is not a PNG, and text is no binary type', async () => {
  assert.equal(await problemOf(png().subarray(0, 8), 'image/png'), 'content_type_mismatch');
  for (const type of ['image/jpeg', 'image/png', 'application/pdf', 'video/mp4'])
    for (const content of ['x', 'hello', '\0', '<?php'])
      assert.equal(await problemOf(Buffer.from(content), type), 'content_type_mismatch');
});

test('JSON is checked to its last byte', async () => {
  const whole = Buffer.from(JSON.stringify({ a: 'x'.repeat(200_000) }));
  assert.equal(await problemOf(whole, 'application/json'), undefined);
  assert.equal(await problemOf(whole.subarray(0, -1), 'application/json'), 'content_type_mismatch');
  assert.equal(
    await problemOf(Buffer.concat([whole, Buffer.from('<')]), 'application/json'),
    'content_type_mismatch',
  );
  assert.equal(await problemOf(Buffer.from('"\xff"', 'latin1'), 'application/json'), 'content_type_mismatch');
});

test('errors of the source are rethrown', async () => {
  async function* failing() {
    yield png();
    throw new Error('the store went away');
  }
  const inspection = inspectContent({
    content: Readable.from(failing()),
    declaredType: 'image/png',
    maxBytes: MAX_BYTES,
  });
  await assert.rejects(inspection, { message: 'the store went away' });
});
