import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { createFakeClock } from '../../../../testing/app/fake-clock.ts';
import { createEncryption } from '../../../infrastructure/runtime/encryption.ts';
import { Failure } from '../../../infrastructure/runtime/failure.ts';
import { Secret } from '../../../infrastructure/runtime/secret.ts';
import { newGuid } from '../testing/storage-suite.ts';
import { createLinks, type LinkRequest } from './links.ts';

const QUARTER_MS = 15 * 60_000;
const [OLD_KEY, NEW_KEY] = [new Secret('ab'.repeat(32)), new Secret('cd'.repeat(32))];

function createLinksUnder(masterKeys = [OLD_KEY], clock = createFakeClock()) {
  const encryption = createEncryption({ masterKeys, randomBytes });
  const links = createLinks({ uploadUrl: 'https://upload.test', encryption, clock });
  const expiresAt = new Date(clock.now().getTime() + QUARTER_MS);
  const organizationGuid = newGuid();
  const terms = { guid: newGuid(), organizationGuid, contentType: 'image/png', maxBytes: 1_000, expiresAt };
  const { maxBytes: _, ...shared } = terms;
  const download = { ...shared, filename: 'Pass & <b>.png' };
  return { links, clock, encryption, terms, download };
}

/** Parses a link as the route does. */
function requestOf(url: string, contentType: string | undefined = 'image/png') {
  const { pathname, searchParams } = new URL(url);
  return { guid: pathname.split('/').at(-1) as string, query: Object.fromEntries(searchParams), contentType };
}

/** The terms as a check returns them. */
function checked<Terms extends object>({ organizationGuid, ...terms }: Terms & { organizationGuid: string }) {
  return { ...terms, countedBy: organizationGuid };
}

function codeOf(result: unknown): string {
  assert.ok(result instanceof Failure);
  return result.code;
}

test('an upload link starts with the upload URL and carries its terms', () => {
  const { links, terms } = createLinksUnder();
  const url = links.uploadUrl(terms);
  assert.ok(url.startsWith(`https://upload.test/uploads/${terms.guid}?`));
  assert.deepEqual(links.checkUpload(requestOf(url)), checked(terms));
  assert.deepEqual(links.checkUpload(requestOf(url, 'IMAGE/PNG')), checked(terms));
});

test('a download link starts with the upload URL and carries its terms', () => {
  const { links, download } = createLinksUnder();
  const url = links.downloadUrl(download);
  assert.ok(url.startsWith(`https://upload.test/downloads/${download.guid}?`));
  assert.deepEqual(links.checkDownload(requestOf(url)), checked(download));
});

test('a link is invalid from the moment of its expiry', () => {
  const { links, clock, terms, download } = createLinksUnder();
  const [upload, get] = [requestOf(links.uploadUrl(terms)), requestOf(links.downloadUrl(download))];
  clock.advance(QUARTER_MS - 1);
  assert.deepEqual(links.checkUpload(upload), checked(terms));
  assert.deepEqual(links.checkDownload(get), checked(download));
  clock.advance(1);
  assert.equal(codeOf(links.checkUpload(upload)), 'upload_expired');
  assert.equal(codeOf(links.checkDownload(get)), 'download_expired');
});

test('another content type than the signed one is refused', () => {
  const { links, terms } = createLinksUnder();
  const request = requestOf(links.uploadUrl(terms));
  for (const contentType of ['text/html', 'image/png; charset=utf-8', '', undefined])
    assert.equal(codeOf(links.checkUpload({ ...request, contentType })), 'content_type_mismatch');
});

test('a link that was changed in any part is refused', () => {
  const { links, terms, download } = createLinksUnder();
  const upload = requestOf(links.uploadUrl(terms));
  const get = requestOf(links.downloadUrl(download));
  for (const [request, check] of [
    [upload, links.checkUpload],
    [get, links.checkDownload],
  ] as const) {
    assert.equal(codeOf(check({ ...request, guid: newGuid() })), 'signature_invalid');
    for (const [name, value] of Object.entries(request.query)) {
      const changes = [
        `${value}0`,
        value.slice(1),
        '',
        `${value.toUpperCase()} `,
        [value, value],
        undefined,
        1,
      ];
      for (const changed of changes) {
        const query = { ...request.query, [name]: changed };
        assert.equal(codeOf(check({ ...request, query })), 'signature_invalid', `${name}=${changed}`);
      }
      const { [name]: _, ...without } = request.query;
      assert.equal(codeOf(check({ ...request, query: without })), 'signature_invalid', `no ${name}`);
    }
    const more = { ...request.query, more: 'x' };
    assert.equal(codeOf(check({ ...request, query: more })), 'signature_invalid');
  }
});

test('the signature is checked first, so that a forged link reveals nothing else', () => {
  const { links, clock, terms } = createLinksUnder();
  const request = requestOf(links.uploadUrl(terms), 'text/html');
  const forged = { ...request, query: { ...request.query, signature: 'ab'.repeat(32) } };
  clock.advance(QUARTER_MS);
  assert.equal(codeOf(links.checkUpload(forged)), 'signature_invalid');
  assert.equal(codeOf(links.checkUpload(request)), 'upload_expired');
});

test('upload and download links are not interchangeable, whatever their parameters are called', () => {
  const { links, terms } = createLinksUnder();
  const { content_type, max_bytes, ...rest } = requestOf(links.uploadUrl(terms)).query as Record<
    string,
    string
  >;
  const query = { ...rest, filename: content_type, content_type: max_bytes };
  assert.equal(codeOf(links.checkDownload({ guid: terms.guid, query })), 'signature_invalid');
});

test('signed parts cannot be split differently', () => {
  const { links, download } = createLinksUnder();
  const sign = (filename: string, contentType: string) =>
    requestOf(links.downloadUrl({ ...download, filename, contentType })).query.signature;
  assert.notEqual(sign('a', 'bc'), sign('ab', 'c'));
  assert.notEqual(sign('a","b', 'c'), sign('a', 'b","c'));
});

test('a link stays valid across a master key rotation until the old key is removed', () => {
  const { links, clock, terms } = createLinksUnder([OLD_KEY]);
  const request = requestOf(links.uploadUrl(terms));
  assert.deepEqual(createLinksUnder([NEW_KEY, OLD_KEY], clock).links.checkUpload(request), checked(terms));
  assert.equal(codeOf(createLinksUnder([NEW_KEY], clock).links.checkUpload(request)), 'signature_invalid');
});

test('a node without the new master key accepts links of a node that has it', () => {
  const ahead = createLinksUnder([NEW_KEY, OLD_KEY]);
  const behind = createLinksUnder([OLD_KEY, NEW_KEY], ahead.clock);
  assert.deepEqual(
    behind.links.checkUpload(requestOf(ahead.links.uploadUrl(ahead.terms))),
    checked(ahead.terms),
  );
});

test('a link of the version before, without an Organization, is valid and counted by its file', () => {
  const { links, encryption, terms, download } = createLinksUnder();
  const sign = (method: string, signed: Record<string, string>): LinkRequest => {
    const key = encryption.deriveKey('file-links', encryption.currentKeyId);
    assert.ok(key);
    const parts = JSON.stringify([method, terms.guid, ...Object.values(signed)]);
    const signature = createHmac('sha256', key).update(parts).digest('hex');
    return { guid: terms.guid, query: { ...signed, key: encryption.currentKeyId, signature } };
  };
  const expires = String(terms.expiresAt.getTime());
  const put = sign('PUT', { content_type: 'image/png', max_bytes: '1000', expires });
  const get = sign('GET', { filename: download.filename, content_type: 'image/png', expires });
  const countedBy = terms.guid;
  const { organizationGuid: _, ...upload } = terms;
  assert.deepEqual(links.checkUpload({ ...put, contentType: 'image/png' }), { ...upload, countedBy });
  const { organizationGuid: __, ...shown } = download;
  assert.deepEqual(links.checkDownload(get), { ...shown, countedBy });
  const named = { ...get, query: { ...get.query, organization: newGuid() } };
  assert.equal(codeOf(links.checkDownload(named)), 'signature_invalid');
});
