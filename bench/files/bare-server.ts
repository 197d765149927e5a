import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** Child process of the benchmark: the minimum that node:http needs to write a body to disk before it responds. */
const [folder = ''] = process.argv.slice(2);
const path = join(folder, 'bare-upload');

const server = createServer(async (request, response) => {
  if (request.method === 'PUT') await pipeline(request, createWriteStream(path, { flush: true }));
  // A separate request, so that it is not part of a measured time.
  else await rm(path);
  response.writeHead(200).end();
});
server.requestTimeout = 0;
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.send?.(port);
});
process.on('disconnect', () => process.exit());
