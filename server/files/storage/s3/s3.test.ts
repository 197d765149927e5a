import assert from 'node:assert/strict';
import { env } from 'node:process';
import { after, before, describe, test } from 'node:test';
import { systemClock } from '../../../infrastructure/runtime/clock.ts';
import { Secret } from '../../../infrastructure/runtime/secret.ts';
import type { Storage } from '../storage.ts';
import { describeStorage, newGuid, type OpenStorage } from '../testing/storage-suite.ts';
import { createS3Double } from './testing/double.ts';
import { storageOn, upload } from './testing/storage.ts';

const HOUR_MS = 3_600_000;

function describeS3(store: string, create: () => Promise<OpenStorage>): void {
  describeStorage(`S3 storage on ${store}`, create);
  describe(`links of ${store}`, () => describeLinks(create));
}

describeS3('a store that verifies every signature', async () => {
  const double = await createS3Double(systemClock);
  const storage = storageOn(double.settings);
  return {
    storage,
    close() {
      storage.close();
      double.close();
    },
  };
});

const { PORTICO_S3_ENDPOINT: endpoint } = env;
if (endpoint)
  describeS3(endpoint, async () => {
    const storage = storageOn({
      endpoint,
      region: env.PORTICO_S3_REGION ?? 'us-east-1',
      bucket: env.PORTICO_S3_BUCKET ?? '',
      accessKeyId: env.PORTICO_S3_ACCESS_KEY_ID ?? '',
      secretAccessKey: new Secret(env.PORTICO_S3_SECRET_ACCESS_KEY ?? ''),
    });
    return { storage, close: storage.close };
  });
else test('S3 storage on a real store', { skip: 'PORTICO_S3_ENDPOINT is not set' });

/** Properties that only the store can show: it accepts signed requests and no others. */
function describeLinks(create: () => Promise<OpenStorage>): void {
  let storage: Storage;
  let close: OpenStorage['close'];
  before(async () => {
    ({ storage, close } = await create());
  });
  after(() => close());

  test('an upload URL stores content and a download URL returns it', async () => {
    const guid = newGuid();
    const expiresAt = new Date(Date.now() + HOUR_MS);
    const terms = { guid, organizationGuid: newGuid(), contentType: 'image/png', expiresAt };
    const url = await storage.uploadUrl({ ...terms, maxBytes: 100 });
    assert.equal((await upload(url, 'text/html', 'other')).status, 403);
    assert.equal(await storage.head(guid), undefined);
    assert.equal((await upload(url, 'image/png', 'bytes')).status, 200);
    assert.deepEqual(await storage.head(guid), { size: 5 });
    await upload(url, 'image/png', 'replaced');
    assert.deepEqual(await storage.head(guid), { size: 5 });

    const filename = 'März 100%.png';
    const link = await storage.downloadUrl({ ...terms, filename });
    const answer = await fetch(link);
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('content-type'), 'image/png');
    assert.match(
      answer.headers.get('content-disposition') ?? '',
      /^attachment; .*''M%C3%A4rz%20100%25\.png$/,
    );
    assert.equal(await answer.text(), 'bytes');
    await storage.delete(guid);
    assert.equal((await fetch(link)).ok, false);
  });
}
