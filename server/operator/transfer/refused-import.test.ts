import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer, json } from 'node:stream/consumers';
import { test } from 'node:test';
import { createZstdCompress, zstdDecompressSync } from 'node:zlib';
import { createTestApp, OPERATOR_TOKEN } from '../../../testing/app/app.ts';
import { exportFrom, KEY } from '../../../testing/app/cells.ts';
import { createTenant } from '../../../testing/app/tenant.ts';
import { listenTo } from '../../../testing/objects/files.ts';
import { until } from '../../../testing/webhooks/webhooks.ts';
import type { Call } from '../../commands/operator/calls.ts';
import { sendFile } from '../../commands/operator/files.ts';
import type { Config } from '../../infrastructure/config/config.ts';
import { Secret } from '../../infrastructure/runtime/secret.ts';
import { seal, unseal } from './sealed-stream.ts';
import { TRANSFER_KEY_HEADER } from './transfer-key.ts';

/** More than the buffers of both sockets. */
const LARGE_BYTES = 32 * 1024 * 1024;
const OTHER_KEY = new Secret('another-key-than-that-of-the-export');

const app = await createTestApp();
const operatorUrl = (await listenTo(app))('http://localhost:4000');
const { organizationGuid } = await createTenant(app);
const file = await createLargeExport();
const path = join(app.dataDir, 'large.portico');
await writeFile(path, file);

/** Everything that is inserted is at its beginning. */
async function createLargeExport(): Promise<Buffer> {
  const small = Readable.from([await exportFrom(app, organizationGuid)]);
  const frames = zstdDecompressSync(await buffer(small.pipe(unseal(KEY))));
  const large = Readable.from([frames, randomBytes(LARGE_BYTES)]);
  return buffer(large.pipe(createZstdCompress()).pipe(seal(KEY)));
}

const REFUSED = [
  [OTHER_KEY, 400, /^The transfer key must be that of the export/],
  [KEY, 409, /^The Organization exists in this installation already/],
] as const;

test('an import that is refused before its file has arrived answers with the reason', async () => {
  const call = { file: 'read' } as Call;
  const importing = { method: 'PUT', path: '/operator/import', body: undefined };
  for (const [transferKey, , message] of REFUSED) {
    const config = { operatorUrl, transferKey } as Config;
    const answer = await sendFile(config, new Secret(OPERATOR_TOKEN), { call, request: importing, path });
    assert.equal(answer.ok, false);
    assert.match((answer.body as { message: string }).message, message);
  }
});

test('the connection of a refused import is closed though the client goes on sending', async () => {
  for (const [transferKey, status, message] of REFUSED)
    for (const framing of [{ 'content-length': file.length }, { 'transfer-encoding': 'chunked' }]) {
      const outgoing = request(`${operatorUrl}/operator/import`, {
        method: 'PUT',
        headers: {
          ...{ authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/octet-stream' },
          ...framing,
          [TRANSFER_KEY_HEADER]: transferKey.reveal(),
        },
      });
      outgoing.write(file.subarray(0, LARGE_BYTES / 2));
      const [response] = await once(outgoing, 'response');
      outgoing.on('error', () => undefined);
      assert.equal(response.statusCode, status);
      assert.match(((await json(response)) as { message: string }).message, message);
      assert.ok(!outgoing.closed);
      // The server may set the time limit after the client has read the response.
      await until(() => {
        app.clock.advance(10_000);
        return outgoing.closed;
      }, 'the end of the connection');
    }
});
