import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';

/** Repeated until the requested number of bytes is written. */
const BLOCK_BYTES = 1024 ** 2;
const PDF_HEAD = Buffer.from('%PDF-1.7\n');

/** Content of any size that begins like a PDF and is unique. */
export type Content = { bytes: number; first: Buffer; block: Buffer };

export function createContent(bytes: number): Content {
  const block = randomBytes(BLOCK_BYTES);
  return { bytes, block, first: Buffer.concat([PDF_HEAD, block.subarray(PDF_HEAD.length)]) };
}

function* blocksOf({ bytes, first, block }: Content): Generator<Buffer> {
  for (let sent = 0; sent < bytes; sent += BLOCK_BYTES)
    yield (sent === 0 ? first : block).subarray(0, Math.min(BLOCK_BYTES, bytes - sent));
}

export function sha256Of(content: Content): string {
  const hash = createHash('sha256');
  for (const block of blocksOf(content)) hash.update(block);
  return hash.digest('hex');
}

/** Returns the seconds until the response. */
export async function put(url: string, content: Content): Promise<number> {
  const startedAt = performance.now();
  const headers = { 'content-type': 'application/pdf', 'content-length': content.bytes };
  const outgoing = request(url, { method: 'PUT', headers, agent: false });
  const answered = once(outgoing, 'response');
  // Errors are reported when the response is awaited.
  answered.catch(() => {});
  for (const block of blocksOf(content)) if (!outgoing.write(block)) await once(outgoing, 'drain');
  outgoing.end();
  const [response] = await answered;
  response.resume();
  await once(response, 'end');
  if (response.statusCode !== 200) throw new Error(`an upload got status ${response.statusCode}`);
  return (performance.now() - startedAt) / 1_000;
}
