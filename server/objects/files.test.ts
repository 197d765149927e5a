import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCallers, issueToken } from '../../testing/api/api-callers.ts';
import { assertError, createTestApp } from '../../testing/app/app.ts';
import { createCustomer, nextGuid } from '../../testing/objects/customers.ts';
import { createFile, inline, PDF, PNG } from '../../testing/objects/files.ts';
import { newObject, typeOf } from '../../testing/objects/objects.ts';

/** An identity verification references only completed files of its customer (contract, section 11). */
const app = await createTestApp();
const owner = await createCallers(app);
const type = typeOf('identity_verification');

async function verify(fields: object) {
  const payload = { ...(await newObject(app, type, owner)), ...fields };
  const token = await issueToken(app, owner, 'bank');
  return app.call({ method: 'POST', url: '/api/identity_verifications', token, payload });
}

/** Processed, unless the file has no content. */
async function fileOf(customerGuid: string, content: Buffer | undefined = PNG): Promise<string> {
  const token = await issueToken(app, owner, 'organization');
  const { guid } = await createFile(app, { token, customerGuid }, content ? inline(content) : {});
  await app.fileProcessing.drain();
  return guid;
}

test('a verification references completed files of the customer', async () => {
  const file_guids = [await fileOf(owner.customerGuid), await fileOf(owner.customerGuid)];
  const { status, body } = await verify({ file_guids });
  assert.equal(status, 201, JSON.stringify(body));
  assert.deepEqual(body.file_guids, file_guids);
});

test('a file that is not completed, not the customer’s, not the tenant’s or unknown refuses the verification', async () => {
  const good = await fileOf(owner.customerGuid);
  const token = await issueToken(app, owner, 'organization');
  const { guid: unprocessed } = await createFile(app, { token, customerGuid: owner.customerGuid });
  const stranger = await createCallers(app);
  const strangers = await createFile(
    app,
    { token: await issueToken(app, stranger, 'organization'), customerGuid: stranger.customerGuid },
    inline(PNG),
  );
  await app.fileProcessing.drain();
  for (const wrong of [
    unprocessed,
    await fileOf(owner.customerGuid, PDF),
    await fileOf(await createCustomer(app, owner.bankGuid)),
    strangers.guid,
    nextGuid(app),
  ])
    assertError(
      await verify({ file_guids: [good, wrong] }),
      422,
      'file_not_completed',
      'file_guids must be guids of completed files of the customer',
    );
});

test('file_guids is optional', async () => {
  for (const fields of [{}, { file_guids: [] }]) assert.equal((await verify(fields)).status, 201);
});
