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
/** Other files of the guides are examples. */
const GUIDE_TYPES: Record<string, string | undefined> = {
  '.html': 'text/html; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.br': undefined,
  '.gz': undefined,
};
const EXAMPLE_TYPE = 'text/plain; charset=utf-8';
const SUFFIXES: readonly (readonly [Encoding, string])[] = [
  ['br', '.br'],
  ['gzip', '.gz'],
];

/** Loads the whole build, about six megabytes, so that no request names a file on disk. */
export async function readDashboardFiles(folder: string): Promise<DashboardFiles> {
  const names = await readdir(folder, { recursive: true });
  const served = names.filter((name) => typeOf(name) !== undefined);
  const files = await Promise.all(
    served.map(async (name) => [pathOf(name), await readOne(folder, name)] as const),
  );
  return { index: await readFile(join(folder, 'index.html'), 'utf8'), files: new Map(files) };
}

function typeOf(name: string): string | undefined {
  const suffix = extname(name);
  if (!isGuide(name)) return TYPES[suffix];
  // The folders of examples have no suffix.
  if (suffix === '') return undefined;
  return suffix in GUIDE_TYPES ? GUIDE_TYPES[suffix] : EXAMPLE_TYPE;
}

function isGuide(name: string): boolean {
  return name.startsWith(`guides${sep}`);
}

/** Guides are pages without a suffix: `/guides`, `/guides/webhooks`. */
function pathOf(name: string): string {
  const path = `/${name.replaceAll(sep, '/')}`;
  return isGuide(name) ? path.replace(/(\/index)?\.html$/, '') : path;
}

async function readOne(folder: string, name: string): Promise<DashboardFile> {
  const path = join(folder, name);
  const plain = await readFile(path);
  const encoded = new Map<Encoding, Buffer>();
  for (const [encoding, suffix] of SUFFIXES)
    if (existsSync(path + suffix)) encoded.set(encoding, await readFile(path + suffix));
  return {
    type: typeOf(name) as string,
    etag: `"${createHash('sha256').update(plain).digest('base64url').slice(0, 27)}"`,
    immutable: name.startsWith('assets'),
    plain,
    encoded,
  };
}
