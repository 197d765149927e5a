import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { Answer, TestApp } from '../app/app.ts';
import { createTenant, type Tenant, tokenOf } from '../app/tenant.ts';
import { createCustomer } from './customers.ts';

/** The smallest content that passes as its type. */
export const PNG = Buffer.concat([
  Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489', 'hex'),
  Buffer.from('0000000a49444154789c6360000000020001e221bc330000000049454e44ae426082', 'hex'),
]);
export const PDF = Buffer.from(
  '%PDF-1.7\n1 0 obj\n<< /Type /Catalog >>\nendobj\ntrailer\n<< /Root 1 0 R >>\n%%EOF\n',
);

export type FileBody = Record<string, unknown> & { guid: string; state: string; upload_url: string };
export type Owner = Tenant & { customerGuid: string; token: string };
/** A function where time advances: a token expires after half an hour. */
type Caller = { token: string | (() => Promise<string>) };
type Creator = Caller & Pick<Owner, 'customerGuid'>;

export async function createFileOwner(
  app: TestApp,
  options: Parameters<typeof createTenant>[1] = {},
): Promise<Owner> {
  const tenant = await createTenant(app, options);
  const host = options.environment === 'production' ? { host: 'production.localhost:4000' } : {};
  const token = await tokenOf(app, tenant.organizationKey, 'files:read files:execute', host);
  return { ...tenant, token, customerGuid: await createCustomer(app, tenant.bankGuid) };
}

export async function postFile(
  app: TestApp,
  { token, customerGuid }: Creator,
  given: Record<string, unknown> = {},
): Promise<Answer> {
  const payload = {
    type: 'utility_bill',
    filename: 'bill.png',
    content_type: 'image/png',
    customer_guid: customerGuid,
    ...given,
  };
  return app.call({ method: 'POST', url: '/api/files', token: await textOf(token), payload });
}

/** With `data` unless that is given as undefined. */
export async function createFile(
  app: TestApp,
  owner: Creator,
  given: Record<string, unknown> = {},
): Promise<FileBody> {
  const { status, body } = await postFile(app, owner, given);
  assert.equal(status, 201, JSON.stringify(body));
  return body as FileBody;
}

export const inline = (content: Buffer | string) => ({ data: Buffer.from(content).toString('base64') });

export async function showFile(
  app: TestApp,
  { token }: Caller,
  guid: string,
  query = '',
): Promise<FileBody & { download_url: string }> {
  const { status, body } = await app.call({ url: `/api/files/${guid}${query}`, token: await textOf(token) });
  assert.equal(status, 200, JSON.stringify(body));
  return body as FileBody & { download_url: string };
}

async function textOf(token: Caller['token']): Promise<string> {
  return typeof token === 'string' ? token : token();
}

/** All content in the folder of files, complete or not. */
export async function storedIn({ dataDir }: Pick<TestApp, 'dataDir'>): Promise<string[]> {
  const entries = await readdir(join(dataDir, 'files'), { recursive: true, withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      return [];
    },
  );
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
}

/** The app on a real socket; replaces the default address in links by the real one. */
export async function listenTo(app: TestApp): Promise<(link: string) => string> {
  await app.server.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.server.address() as AddressInfo;
  return (link) => link.replace('http://localhost:4000', `http://127.0.0.1:${port}`);
}

export type HttpAnswer = {
  status: number;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
  body: Answer['body'];
};

/** A request whose headers and bytes are under the test's control. */
export function send(
  method: string,
  url: string,
  headers: OutgoingHttpHeaders = {},
  content: Buffer = Buffer.alloc(0),
) {
  const outgoing = request(url, { method, headers, agent: false });
  outgoing.on('error', () => {});
  const answer = (async (): Promise<HttpAnswer> => {
    const [response] = await once(outgoing, 'response');
    const bytes = await buffer(response);
    const isJson = String(response.headers['content-type']).startsWith('application/json');
    const body = isJson && bytes.length > 0 ? JSON.parse(bytes.toString()) : {};
    return { status: response.statusCode, headers: response.headers, bytes, body };
  })();
  // A test that aborts the request needs no response.
  answer.catch(() => {});
  if (content.length > 0) outgoing.write(content);
  return { outgoing, answer };
}

/** An upload as a client does it. */
export async function upload(
  url: string,
  content: Buffer,
  headers: OutgoingHttpHeaders = {},
): Promise<HttpAnswer> {
  const given = { 'content-type': 'image/png', 'content-length': content.length, ...headers };
  const { outgoing, answer } = send('PUT', url, given, content);
  outgoing.end();
  return answer;
}
