import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { build } from 'vite';
import { BUILDS, fingerprintOfSources, ROOT, SOURCES } from '../server/dashboard/sources.ts';
import { renderGuides } from './guides/guides.ts';

/**
 * `npm run build`: builds and compresses the dashboard and the guides, and checks the size of the dashboard. `npm start` runs it when the sources have
 * changed. A build appears atomically under the fingerprint of its sources, so that two processes may build at once.
 */
const FIRST_LOAD_LIMIT_BYTES = 300 * 1024;
/** The entry point; pages are loaded on demand. */
const ENTRY = 'index.html';
/** The first page of a logged-in user. */
const FIRST_PAGE = ['shell/Workspace.tsx', 'pages/overview/OverviewPage.tsx'];
const MAKING = 'making-';
const MANIFEST = 'manifest.json';
/** A build that takes longer was aborted. */
const ABANDONED_AFTER_MS = 3_600_000;
/** The highest levels take seconds for a file of this size, which pages load on demand. */
const LARGE_BYTES = 256 * 1024;
const COMPRESSED = new Set(['.js', '.mjs', '.css', '.svg', '.html', '.json']);

const folder = join(BUILDS, fingerprintOfSources());
await mkdir(BUILDS, { recursive: true });
const made = await mkdtemp(join(BUILDS, MAKING));
try {
  await bundle(made);
  await writeGuides(made);
  await Promise.all((await compressible(made)).map(compress));
  const bytes = await firstLoad(made);
  const verdict = `first load: ${kilobytes(bytes)} of compressed script, limit ${kilobytes(FIRST_LOAD_LIMIT_BYTES)}`;
  if (bytes > FIRST_LOAD_LIMIT_BYTES) throw new Error(`The dashboard is too large: ${verdict}`);
  await writeFile(join(made, 'size.json'), `${JSON.stringify({ first_load_bytes: bytes })}\n`);
  await publish();
  process.stdout.write(`${verdict}\n`);
} finally {
  await rm(made, { recursive: true, force: true });
}

async function bundle(outDir: string): Promise<void> {
  await build({ root: SOURCES, logLevel: 'warn', build: { outDir, emptyOutDir: false, manifest: MANIFEST } });
}

/** From the pages of `docs/partners/`, in the page that Vite has built. */
async function writeGuides(directory: string): Promise<void> {
  const template = join(directory, 'guides.html');
  const files = await renderGuides(ROOT, await readFile(template, 'utf8'));
  await rm(template);
  for (const [name, text] of files) {
    const path = join(directory, 'guides', name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
}

async function compressible(directory: string): Promise<string[]> {
  const names = await readdir(directory, { recursive: true });
  return names.filter((name) => COMPRESSED.has(extname(name))).map((name) => join(directory, name));
}

async function compress(path: string): Promise<void> {
  const bytes = await readFile(path);
  const level = bytes.length > LARGE_BYTES ? 6 : 10;
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: level } };
  await writeFile(`${path}.br`, await promisify(brotliCompress)(bytes, quality));
  await writeFile(`${path}.gz`, await promisify(gzip)(bytes, { level: 9 }));
}

type Chunk = { file: string; imports?: string[]; dynamicImports?: string[] };

/** Everything that the first page loads, by the larger of the two encodings. */
async function firstLoad(directory: string): Promise<number> {
  const manifest = JSON.parse(await readFile(join(directory, MANIFEST), 'utf8')) as Record<string, Chunk>;
  const needed = new Set([ENTRY, ...FIRST_PAGE]);
  for (const name of needed) {
    const chunk = manifest[name];
    if (!chunk) throw new Error(`${name} is missing from the build`);
    for (const imported of chunk.imports ?? []) needed.add(imported);
    if (name !== ENTRY) for (const imported of chunk.dynamicImports ?? []) needed.add(imported);
  }
  const files = new Set([...needed].map((name) => manifest[name]?.file));
  const sizes = [...files].map(async (file) => (await readFile(join(directory, `${file}.gz`))).length);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

async function publish(): Promise<void> {
  const before = await readdir(BUILDS);
  // The service may run as another user than the build, and a temporary folder is private.
  await chmod(made, 0o755);
  // A concurrent process may have been faster; its build is the same.
  if (!existsSync(folder)) await rename(made, folder).catch(ignoreExisting);
  const others = before.map((name) => join(BUILDS, name)).filter((path) => path !== folder);
  await Promise.all(others.map(removeWhenOld));
}

/** Removes builds of other sources, except one that may still be in progress. */
async function removeWhenOld(path: string): Promise<void> {
  const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: 0 }));
  if (path.includes(MAKING) && Date.now() - mtimeMs < ABANDONED_AFTER_MS) return;
  await rm(path, { recursive: true, force: true });
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
}

function kilobytes(bytes: number): string {
  return `${Math.round(bytes / 1024)} KB`;
}
