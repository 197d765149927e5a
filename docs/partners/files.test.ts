import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createTestApp } from '../../testing/app/app.ts';
import { createFile, createFileOwner, listenTo, PNG, showFile } from '../../testing/objects/files.ts';

test('docs/partners/files.md: the upload from a browser works', async () => {
  const text = await readFile(join(import.meta.dirname, 'files.md'), 'utf8');
  const source = /```js\n(.*?)```/s.exec(text)?.[1] ?? '';
  const { upload } = await import(`data:text/javascript,${encodeURIComponent(source)}`);
  const app = await createTestApp();
  const local = await listenTo(app);
  const owner = await createFileOwner(app);
  const { guid, upload_url: url } = await createFile(app, owner);
  await upload(new Blob([PNG], { type: 'image/png' }), local(url));
  await app.fileProcessing.drain();
  assert.equal((await showFile(app, owner, guid)).state, 'completed');
  await assert.rejects(upload(new Blob([PNG], { type: 'image/png' }), local(url)), /409/);
});
