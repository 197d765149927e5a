import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Credentials, refusalOf } from './sigv4.ts';

/** The examples of the Amazon S3 reference, with their published signatures. */
const CREDENTIALS: Credentials = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
};
const SIGNED_AT = new Date('2013-05-24T00:00:00.000Z');
const EMPTY_HASH = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const CREDENTIAL = 'AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request';

const LINK = [
  '/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256',
  `X-Amz-Credential=${encodeURIComponent(CREDENTIAL)}`,
  'X-Amz-Date=20130524T000000Z',
  'X-Amz-Expires=86400',
  'X-Amz-SignedHeaders=host',
  'X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404',
].join('&');

const HEADERS = {
  host: 'examplebucket.s3.amazonaws.com',
  range: 'bytes=0-9',
  'x-amz-content-sha256': EMPTY_HASH,
  'x-amz-date': '20130524T000000Z',
  authorization: `AWS4-HMAC-SHA256 Credential=${CREDENTIAL},SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41`,
};

const body = Buffer.alloc(0);
const byLink = (url = LINK, headers = {}) => ({
  method: 'GET',
  url,
  headers: { host: 'examplebucket.s3.amazonaws.com', ...headers },
  body,
});
const byHeaders = (headers = {}) => ({
  method: 'GET',
  url: '/test.txt',
  headers: { ...HEADERS, ...headers },
  body,
});

test('the published pre-signed URL is accepted until it expires', () => {
  const lastSecond = new Date(SIGNED_AT.getTime() + 86_399_000);
  assert.equal(refusalOf(byLink(), CREDENTIALS, lastSecond), undefined);
  assert.equal(refusalOf(byLink(), CREDENTIALS, new Date(lastSecond.getTime() + 1_000)), 'AccessDenied');
});

test('the published signed request is accepted for fifteen minutes', () => {
  assert.equal(refusalOf(byHeaders(), CREDENTIALS, SIGNED_AT), undefined);
  const later = new Date(SIGNED_AT.getTime() + 16 * 60_000);
  assert.equal(refusalOf(byHeaders(), CREDENTIALS, later), 'RequestTimeTooSkewed');
});

test('signed parts cannot be changed, and relevant headers cannot be added', () => {
  const refusal = (request: ReturnType<typeof byLink>) => refusalOf(request, CREDENTIALS, SIGNED_AT);
  assert.equal(refusal(byLink(LINK.replace('test', 'best'))), 'SignatureDoesNotMatch');
  assert.equal(refusal(byLink(LINK.replace('86400', '86401'))), 'SignatureDoesNotMatch');
  assert.equal(refusal(byLink(`${LINK}&versionId=1`)), 'SignatureDoesNotMatch');
  assert.equal(refusal(byLink(LINK, { 'x-amz-acl': 'public-read' })), 'AccessDenied');
  assert.equal(refusal(byLink('/test.txt')), 'AccessDenied');
  assert.equal(refusal({ ...byLink(), method: 'PUT' }), 'SignatureDoesNotMatch');
  assert.equal(refusal(byHeaders({ range: 'bytes=0-10' })), 'SignatureDoesNotMatch');
  assert.equal(refusal({ ...byHeaders(), body: Buffer.from('x') }), 'AccessDenied');
});
