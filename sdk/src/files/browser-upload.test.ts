import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { rolldown } from 'rolldown';
import { launchBrowser, prepareBrowser } from '../../../e2e/support/browser.ts';
import { createSdkService } from '../../../testing/packages/sdk.ts';

test('a page uploads a file with its progress, and sees errors of their class', async () => {
  const service = await createSdkService();
  const portico = service.portico();
  const { guid: customer_guid } = await portico.customers.create({
    type: 'individual',
    bank_guid: service.tenant.bankGuid,
  });
  const { guid, upload_url } = await portico.files.create({
    ...{ type: 'utility_bill', filename: 'bill.pdf', content_type: 'application/pdf', customer_guid },
  });

  await prepareBrowser();
  const page = await (await launchBrowser()).newPage();
  const build = await rolldown({ input: join(import.meta.dirname, '..', 'index.ts'), platform: 'browser' });
  const { output } = await build.generate({ format: 'iife', name: 'sdk' });
  await build.close();
  await page.addScriptTag({ content: output[0].code });
  const url = JSON.stringify(service.local(String(upload_url)));
  const { progress, size, error, aborted } = (await page.evaluate(`(async () => {
    const progress = [];
    const file = new File(['%PDF-1.7', '%'.repeat(5_000_000)], 'bill.pdf', { type: 'application/pdf' });
    const onProgress = ({ sentBytes }) => progress.push(sentBytes);
    await sdk.uploadContent(${url}, file, { onProgress });
    const changed = ${url}.replace(/.$/, (end) => (end === '0' ? '1' : '0'));
    const error = await sdk.uploadContent(changed, file, { onProgress }).catch((error) => error);
    const signal = AbortSignal.abort(new Error('enough'));
    const aborted = await sdk.uploadContent(${url}, file, { onProgress, signal }).catch((error) => error);
    return {
      progress,
      size: file.size,
      error: [error.name, error.status, error instanceof sdk.PermissionError],
      aborted: aborted.message,
    };
  })()`)) as { progress: number[]; size: number; error: unknown; aborted: string };
  assert.ok(progress.includes(size));
  assert.deepEqual(error, ['SignatureInvalidError', 403, true]);
  assert.equal(aborted, 'enough');
  await service.app.fileProcessing.drain();
  const file = await portico.files.get(guid);
  assert.deepEqual([file.state, file.size], ['completed', size]);
});
