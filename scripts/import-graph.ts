import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { parseSync } from 'oxc-parser';

/** Every source file with the files of the project that it imports, type-only imports included. */
export type ImportGraph = ReadonlyMap<string, ReadonlySet<string>>;

const SOURCE = /\.(ts|tsx|cjs)$/;
/** A script that is loaded by its URL: a worker thread, a child process, a folder of SQL. */
const LOADED_BY_URL = /new URL\(\s*'(\.[^']+)',\s*import\.meta\.url/g;

/** Tracked and new files of the project; paths are relative to the root. */
export function listProjectFiles(root: string): string[] {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate'];
  return execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
    .trim()
    .split('\n');
}

export function readImportGraph(root: string, files = listProjectFiles(root)): ImportGraph {
  const graph = new Map<string, Set<string>>();
  for (const file of files)
    if (SOURCE.test(file)) graph.set(file, importsOf(file, readFileSync(join(root, file), 'utf8')));
  return graph;
}

/** An import of a file of the project, by its path, or of a package, by its name. */
export type Import = { from: string; to: string; isType: boolean };

/** The imports, re-exports and dynamic imports of a source file. */
export function readImports(from: string, text: string): Import[] {
  const { module } = parseSync(from, text);
  const statements = [
    ...module.staticImports.map(({ moduleRequest, entries }) => ({ request: moduleRequest, entries })),
    ...module.staticExports.map(({ entries }) => ({ request: entries[0]?.moduleRequest, entries })),
  ].filter(({ request }) => request);
  return [
    ...statements.map(({ request, entries }) => ({
      specifier: request?.value ?? '',
      isType: entries.length > 0 && entries.every((entry) => entry.isType),
    })),
    ...module.dynamicImports.map(({ moduleRequest: { start, end } }) => ({
      specifier: text.slice(start + 1, end - 1),
      isType: false,
    })),
  ].map(({ specifier, isType }) => ({ from, to: resolve(from, specifier), isType }));
}

export function importsOf(file: string, text: string): Set<string> {
  const loaded = [...text.matchAll(LOADED_BY_URL)].map(([, specifier = '']) => resolve(file, specifier));
  const imported = readImports(file, text).map(({ to }) => to);
  return new Set([...imported, ...loaded]);
}

function resolve(from: string, specifier: string): string {
  return specifier.startsWith('.') ? posix.join(posix.dirname(from), specifier) : specifier;
}

/** The files that import one of `changed`, directly or by way of others, and `changed` themselves. */
export function dependentsOf(graph: ImportGraph, changed: Iterable<string>): Set<string> {
  const importers = new Map<string, string[]>();
  for (const [file, imports] of graph)
    for (const imported of imports) importers.set(imported, [...(importers.get(imported) ?? []), file]);
  const found = new Set(changed);
  for (const file of found) for (const importer of importers.get(file) ?? []) found.add(importer);
  return found;
}
