import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';

/** The sources of the dashboard, and its builds in folders named by the fingerprint of their sources. */
export const ROOT = join(import.meta.dirname, '..', '..');
export const SOURCES = join(ROOT, 'dashboard');
export const BUILDS = join(SOURCES, 'build');

/** `/guides` is part of the build: its pages, the examples in them, and what renders them. */
const GUIDE_SOURCES = ['docs/partners/*.md', 'examples/receivers/*/*', 'scripts/guides/*.ts'];

/** Code that the dashboard imports from the server is part of the build; types are not. */
const IMPORTED = /^(?:import|export)(?! type)[^'"]*['"](\.[^'"]+\.tsx?)['"]/gm;

/** A hash of all files that the build depends on. */
export function fingerprintOfSources(root = ROOT): string {
  const guides = globSync(GUIDE_SOURCES, { cwd: root });
  const files = [
    ...withImported(ownFiles(join(root, 'dashboard'))),
    ...guides.sort().map((name) => join(root, name)),
    join(root, 'package-lock.json'),
  ];
  const hash = createHash('sha256');
  for (const file of files) {
    const name = relative(root, file).replaceAll(sep, '/');
    hash.update(`${name}\0`).update(readFileSync(file)).update('\0');
  }
  return hash.digest('hex').slice(0, 32);
}

function ownFiles(folder: string): string[] {
  const names = globSync('**/*.{ts,tsx,css,html,svg,js}', { cwd: folder, exclude: ['build'] });
  return names.map((name) => join(folder, name));
}

function withImported(files: readonly string[]): string[] {
  const found = new Set(files);
  for (const file of found)
    if (/\.tsx?$/.test(file))
      for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(IMPORTED)) {
        const imported = resolve(dirname(file), path);
        if (existsSync(imported)) found.add(imported);
      }
  return [...found].sort();
}
