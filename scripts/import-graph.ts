import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
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

export function importsOf(file: string, text: string): Set<string> {
  const { module } = parseSync(file, text);
  const specifiers = [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...module.staticExports.flatMap(({ entries }) => entries.map((entry) => entry.moduleRequest?.value)),
    ...module.dynamicImports.map(({ moduleRequest: { start, end } }) => text.slice(start + 1, end - 1)),
    ...[...text.matchAll(LOADED_BY_URL)].map(([, specifier]) => specifier),
  ];
  return new Set(
    specifiers
      .filter((specifier) => specifier?.startsWith('.'))
      .map((specifier) => normalize(join(dirname(file), specifier as string))),
  );
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
