import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { PDF, PNG } from '../../../testing/objects/files.ts';
import { createSdkService, errorResponse } from '../../../testing/packages/sdk.ts';
import { fileFromPath } from '../node.ts';
import type { Progress } from './counted-stream.ts';
import { uploadContent } from './upload-content.ts';

const service = await createSdkService();
const { app, tenant, sent } = service;
const portico = service.portico();
const { guid: customer_guid } = await portico.customers.create({
  type: 'individual',
  bank_guid: tenant.bankGuid,
});
const ABOUT = { type: 'utility_bill', customer_guid } as const;
/** Larger than what is sent inline. */
const LARGE = Buffer.concat([PDF, Buffer.alloc(3 * 1024 ** 2, '%')]);
const directory = await mkdtemp(join(tmpdir(), 'portico-sdk-'));
after(() => rm(directory, { recursive: true, force: true }));

function routes(): string[] {
  return sent
    .splice(0)
    .map(({ method, path }) => `${method} ${path.split('?')[0]?.replace(/\/[0-9a-f]{32}$/, '')}`);
}

async function assertStored(guid: string, content: Uint8Array): Promise<void> {
  await app.fileProcessing.drain();
  const file = await portico.files.wait(guid);
  assert.equal(file.size, content.length);
  const { download_url } = await portico.files.get(guid, { include_download_url: true });
  const response = await service.runtime.fetch(String(download_url), {});
  assert.deepEqual(Buffer.from(await response.arrayBuffer()), Buffer.from(content));
  sent.length = 0;
}

test('small content is sent inline, with name and type of the source', async () => {
  sent.length = 0;
  const progress: Progress[] = [];
  const source = new File([PNG], 'bill.png', { type: 'image/png' });
  const file = await portico.files.upload(source, { ...ABOUT, onProgress: (each) => progress.push(each) });
  assert.deepEqual([file.filename, file.content_type, file.state], ['bill.png', 'image/png', 'storing']);
  assert.deepEqual(routes(), ['POST /api/files']);
  assert.deepEqual(progress, [{ sentBytes: PNG.length, totalBytes: PNG.length }]);
  await assertStored(file.guid, PNG);
});

test('large content is sent to the upload URL with its progress, from every kind of source', async () => {
  const path = join(directory, 'bill.pdf');
  await writeFile(path, LARGE);
  for (const source of [
    new Blob([LARGE]),
    new Uint8Array(LARGE),
    new Uint8Array(LARGE).buffer,
    new Blob([LARGE]).stream(),
    await fileFromPath(path),
  ]) {
    sent.length = 0;
    const progress: number[] = [];
    const file = await portico.files.upload(source, {
      ...ABOUT,
      filename: 'bill.pdf',
      size: LARGE.length,
      onProgress: ({ sentBytes, totalBytes }) => {
        assert.equal(totalBytes, LARGE.length);
        progress.push(sentBytes);
      },
    });
    assert.deepEqual(routes(), ['POST /api/files', 'PUT /uploads']);
    assert.ok(progress.length > 2);
    assert.deepEqual(
      progress,
      progress.toSorted((a, b) => a - b),
    );
    assert.equal(progress.at(-1), LARGE.length);
    assert.equal('upload_url' in file, false);
    await assertStored(file.guid, LARGE);
  }
});

test('a browser uploads to a URL without a token', async () => {
  const { guid, upload_url } = await portico.files.create({
    ...{ ...ABOUT, filename: 'bill.png', content_type: 'image/png' },
  });
  await uploadContent(String(upload_url), new File([PNG], 'bill.png'), {}, service.runtime);
  assert.equal(sent.at(-1)?.headers.authorization, undefined);
  await assertStored(guid, PNG);
});

test('an interrupted upload is repeated, and one whose answer was lost is complete', async () => {
  const interrupted = new TypeError('fetch failed');
  const inProgress = errorResponse(409, 'upload_in_progress', { 'retry-after': '1' });
  const completed = errorResponse(409, 'upload_completed');
  for (const answers of [
    [interrupted, inProgress, undefined],
    [interrupted, completed],
  ]) {
    let puts = 0;
    service.intercept(({ method }) => (method === 'PUT' ? answers[puts++] : undefined));
    const file = await portico.files.upload(new Blob([LARGE]), { ...ABOUT, filename: 'bill.pdf' });
    assert.equal(puts, answers.length);
    if (!answers.includes(completed)) await assertStored(file.guid, LARGE);
  }
  service.intercept(() => undefined);
});

test('content that another call has sent is not reported as uploaded', async () => {
  const { upload_url } = await portico.files.create({
    ...{ ...ABOUT, filename: 'bill.pdf', content_type: 'application/pdf' },
  });
  const send = (content: Uint8Array<ArrayBuffer>) =>
    uploadContent(String(upload_url), new Blob([content], { type: 'application/pdf' }), {}, service.runtime);
  await send(PDF);
  await assert.rejects(send(LARGE), { name: 'UploadCompletedError' });
  const inProgress = errorResponse(409, 'upload_in_progress', { 'retry-after': '1' });
  service.intercept((_request, nth) => (nth === 1 ? inProgress : undefined));
  await assert.rejects(send(LARGE), { name: 'UploadCompletedError' });
  service.intercept(() => undefined);
});

const KEYED = { ...ABOUT, filename: 'bill.pdf' } as const;
const LINK_LIFETIME_MS = 15 * 60_000;

test('a repeat with the key of a complete upload returns its file, and refuses other content', async () => {
  const options = { ...KEYED, idempotencyKey: 'complete' };
  const { guid } = await portico.files.upload(new Blob([LARGE]), options);
  await app.fileProcessing.drain();
  app.clock.advance(LINK_LIFETIME_MS);
  sent.length = 0;
  const progress: number[] = [];
  const again = await portico.files.upload(new Blob([LARGE]), {
    ...options,
    onProgress: ({ sentBytes }) => progress.push(sentBytes),
  });
  assert.deepEqual([again.guid, again.state, progress], [guid, 'completed', [LARGE.length]]);
  assert.ok(!routes().includes('PUT /uploads'));
  const changed = LARGE.with(-1, 0);
  for (const content of [LARGE.subarray(1), changed])
    await assert.rejects(portico.files.upload(new Blob([content]), options), {
      name: 'IdempotencyKeyReusedError',
    });
});

test('a repeat with the key of an interrupted upload continues it, with a new file after its expiry', async () => {
  const options = { ...KEYED, idempotencyKey: 'interrupted', maxRetries: 0 };
  const upload = () => portico.files.upload(new Blob([LARGE]), options);
  async function interrupt(): Promise<string> {
    service.intercept(({ method }) => (method === 'PUT' ? new TypeError('fetch failed') : undefined));
    await assert.rejects(upload(), { name: 'ConnectionError' });
    service.intercept(() => undefined);
    return String(sent.at(-1)?.path.match(/[0-9a-f]{32}/));
  }
  const first = await interrupt();
  assert.equal(await interrupt(), first);
  app.clock.advance(LINK_LIFETIME_MS);
  await app.fileProcessing.drain();
  const second = await interrupt();
  assert.notEqual(second, first);
  assert.equal((await upload()).guid, second);
  await app.fileProcessing.drain();
  assert.equal((await upload()).guid, second);
});

test('without files:read, a repeat of a creation uses the link of the first answer', async () => {
  const writer = service.portico({ scopes: ['files:execute'] });
  let isLost = false;
  service.intercept(async ({ method, path, headers, body }) => {
    if (isLost || method !== 'POST' || path !== '/api/files') return undefined;
    isLost = true;
    const url = service.local(`http://localhost:4000${path}`);
    assert.equal((await fetch(url, { method, headers, body: JSON.stringify(body) })).status, 201);
    return new TypeError('fetch failed');
  });
  const file = await writer.files.upload(new Blob([LARGE]), {
    ...{ ...KEYED, content_type: 'application/pdf', idempotencyKey: 'least-privilege' },
  });
  await assertStored(file.guid, LARGE);
});

test('calls with one key at the same time return one file', async () => {
  const upload = () => portico.files.upload(new Blob([LARGE]), { ...KEYED, idempotencyKey: 'at once' });
  let other: Promise<{ guid: string }> | undefined;
  service.intercept(async ({ method }) => {
    if (method !== 'PUT' || other) return undefined;
    other = upload();
    await other;
    await app.fileProcessing.drain();
    return undefined;
  });
  const { guid } = await upload();
  assert.equal((await other)?.guid, guid);
  service.intercept(() => undefined);
});

test('a plain stream is sent once', async () => {
  service.intercept(({ method }) => (method === 'PUT' ? new TypeError('fetch failed') : undefined));
  sent.length = 0;
  const stream = new Blob([LARGE]).stream();
  const options = { ...ABOUT, filename: 'bill.pdf', size: LARGE.length };
  await assert.rejects(portico.files.upload(stream, options), { name: 'ConnectionError' });
  assert.deepEqual(routes(), ['POST /api/files', 'PUT /uploads']);
  service.intercept(() => undefined);
});

test('each attempt closes its stream of the source, also if nothing was sent', async () => {
  let opened = 0;
  let closed = 0;
  const stream = () => {
    opened += 1;
    return new ReadableStream<Uint8Array>({
      cancel() {
        closed += 1;
      },
    });
  };
  const send = (signal?: AbortSignal) =>
    uploadContent(
      'http://localhost/uploads/x',
      { size: 1, type: 'image/png', stream },
      signal ? { signal } : {},
      service.runtime,
    );
  // As `fetch` of Node.js, which leaves a locked body when it finds no address.
  service.intercept(({ body }) => {
    (body as ReadableStream).getReader();
    return new TypeError('fetch failed');
  });
  await assert.rejects(send(), { name: 'ConnectionError' });
  assert.deepEqual([opened, closed], [4, 4]);
  await assert.rejects(send(AbortSignal.abort(new Error('enough'))), { message: 'enough' });
  assert.deepEqual([opened, closed], [5, 5]);
  service.intercept(() => undefined);
});

test('a part that is read while the connection fails does not hide the failure, which is repeated', async () => {
  const sources: ReadableStreamDefaultController<Uint8Array>[] = [];
  const stream = () =>
    new ReadableStream<Uint8Array>(
      { start: (controller) => void sources.push(controller) },
      { highWaterMark: 0 },
    );
  service.intercept(async ({ body }) => {
    const reader = (body as ReadableStream<Uint8Array>).getReader();
    const reading = reader.read();
    await new Promise(setImmediate);
    sources.at(-1)?.enqueue(PNG);
    await Promise.all([reader.cancel(), reading]);
    await new Promise(setImmediate);
    return new TypeError('fetch failed');
  });
  const source = { size: PNG.length, type: 'image/png', stream };
  await assert.rejects(uploadContent('http://localhost/uploads/x', source, {}, service.runtime), {
    name: 'ConnectionError',
  });
  assert.equal(sources.length, 4);
  service.intercept(() => undefined);
});

test('content of another size, and errors of the source and of onProgress, end an upload at once', async () => {
  const parts = (...sizes: number[]) => ({
    name: 'bill.pdf',
    stream: () => new Blob(sizes.map((size) => LARGE.subarray(0, size))).stream(),
  });
  const failing = () =>
    new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error('disk failed')) });
  const size = LARGE.length;
  for (const [source, options, expected] of [
    [{ ...parts(size, 1), size }, {}, { name: 'ConfigurationError', message: /more than \d+ bytes/ }],
    [{ ...parts(size - 1), size }, {}, { name: 'ConfigurationError', message: /has \d+ bytes instead of/ }],
    [{ name: 'bill.pdf', size, stream: failing }, {}, { message: 'disk failed' }],
    [{ ...parts(size), size }, { onProgress: () => assert.fail('mine') }, { message: 'mine' }],
  ] as const) {
    sent.length = 0;
    await assert.rejects(portico.files.upload(source, { ...ABOUT, ...options }), expected);
    assert.deepEqual(routes(), ['POST /api/files', 'PUT /uploads']);
  }
});

test('a timeout of an upload that is not above 0 is refused before the file is created', async () => {
  sent.length = 0;
  for (const timeoutMs of [Number.NaN, 0, -1])
    await assert.rejects(portico.files.upload(LARGE, { ...ABOUT, timeoutMs }), /timeoutMs must be above 0/);
  assert.deepEqual(routes(), []);
});

test('a signal ends an upload while its source is being read, and closes the source', async () => {
  // As in a browser, which has to read the whole content before it sends it.
  Object.assign(globalThis, { XMLHttpRequest: class {} });
  after(() => Reflect.deleteProperty(globalThis, 'XMLHttpRequest'));
  const stop = new AbortController();
  let closed = 0;
  const pull = () => stop.abort(new Error('enough'));
  const cancel = () => void closed++;
  const source = { size: 1, type: 'image/png', stream: () => new ReadableStream({ pull, cancel }) };
  const options = { signal: stop.signal, onProgress: () => undefined };
  const uploads = [
    uploadContent('http://localhost/uploads/x', source, options, service.runtime),
    portico.files.upload(source, { ...ABOUT, ...options, filename: 'bill.png' }),
  ];
  for (const upload of uploads) await assert.rejects(upload, { message: 'enough' });
  assert.equal(closed, 2);
});

test('wait throws what is wrong with the content, and gives up in time', async () => {
  const wrong = await portico.files.upload(new File([PDF], 'bill.png', { type: 'image/png' }), ABOUT);
  await app.fileProcessing.drain();
  await assert.rejects(portico.files.wait(wrong.guid), {
    name: 'FileFailedError',
    failureCode: 'content_type_mismatch',
  });
  const { guid } = await portico.files.create({ ...ABOUT, filename: 'a.png', content_type: 'image/png' });
  for (const timeoutMs of [100, 0])
    await assert.rejects(portico.files.wait(guid, { timeoutMs }), { name: 'TimeoutError' });
  for (const timeoutMs of [Number.NaN, -1])
    await assert.rejects(portico.files.wait(guid, { timeoutMs }), { name: 'ConfigurationError' });
});

test('a source without name or type, or with another size, is refused before anything is sent', async () => {
  sent.length = 0;
  await assert.rejects(portico.files.upload(new Blob([PNG]), ABOUT), /filename is required/);
  await assert.rejects(
    portico.files.upload(new Blob([PNG]), { ...ABOUT, filename: 'bill' }),
    /content_type is required/,
  );
  for (const wrong of [undefined, -1, Number.NaN])
    await assert.rejects(portico.files.upload(new Blob([PNG]).stream(), { ...ABOUT, size: wrong }), {
      ...{ name: 'ConfigurationError', message: /^size is required/ },
    });
  for (const wrong of [undefined, 'text', {}])
    await assert.rejects(portico.files.upload(wrong as never, ABOUT), {
      ...{ name: 'ConfigurationError', message: /^The source must be/ },
    });
  const size = PNG.length + 1;
  const cut = { size, name: 'bill.png', stream: () => new Blob([PNG]).stream() };
  await assert.rejects(portico.files.upload(cut, ABOUT), /has \d+ bytes instead of/);
  assert.deepEqual(sent, []);
});
