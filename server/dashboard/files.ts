import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';

type Encoding = 'br' | 'gzip';

/** One file of the build with its precompressed forms. */
export type DashboardFile = {
  type: string;
  etag: string;
  /** The name changes with the content, so clients never need to revalidate it. */
  immutable: boolean;
  plain: Buffer;
  encoded: ReadonlyMap<Encoding, Buffer>;
};

export type DashboardFiles = { index: string; files: ReadonlyMap<string, DashboardFile> };

const TYPES: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};
const SUFFIXES: readonly (readonly [Encoding, string])[] = [
  ['br', '.br'],
  ['gzip', '.gz'],
];

/** Loads the whole build, about six megabytes, so that no request names a file on disk. */
export async function readDashboardFiles(folder: string): Promise<DashboardFiles> {
  const names = await readdir(folder, { recursive: true });
  const served = names.filter((name) => extname(name) in TYPES);
  const files = await Promise.all(
    served.map(async (name) => [`/${name.replaceAll(sep, '/')}`, await readOne(folder, name)] as const),
  );
  return { index: await readFile(join(folder, 'index.html'), 'utf8'), files: new Map(files) };
}

async function readOne(folder: string, name: string): Promise<DashboardFile> {
  const path = join(folder, name);
  const plain = await readFile(path);
  const encoded = new Map<Encoding, Buffer>();
  for (const [encoding, suffix] of SUFFIXES)
    if (existsSync(path + suffix)) encoded.set(encoding, await readFile(path + suffix));
  return {
    type: TYPES[extname(name)] as string,
    etag: `"${createHash('sha256').update(plain).digest('base64url').slice(0, 27)}"`,
    immutable: name.startsWith('assets'),
    plain,
    encoded,
  };
}
