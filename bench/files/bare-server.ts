import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

export type BareServer = { port: number };

/** Runs as a child of the benchmark: what node:http needs at least to have a body on the disk before it answers. */
const [folder = ''] = process.argv.slice(2);
const path = join(folder, 'bare-upload');

const server = createServer(async (request, response) => {
  if (request.method === 'PUT') await pipeline(request, createWriteStream(path, { flush: true }));
  // Asked for by itself, so that it falls into nobody's time.
  else await rm(path);
  response.writeHead(200).end();
});
server.requestTimeout = 0;
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.send?.({ port } satisfies BareServer);
});
process.on('disconnect', () => process.exit());
