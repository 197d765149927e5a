import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { type Import, readImports } from '../import-graph.ts';

/** The layering of CONTRIBUTING.md as rules over import statements. Import circles are Biome's `noImportCycles`. */
export type Violation = { file: string; rule: string; fix: string };
type Rule = { name: string; fix: string; forbids: (edge: Import, graph: Graph) => boolean };
type Graph = { modules: ReadonlySet<string>; imports: ReadonlyMap<string, readonly Import[]> };

const PRODUCT = /^server\/(?!infrastructure\/)/;
const SHIPPED = /^(server|dashboard|sdk|cli|bin)\//;
const TESTING = /(^|\/)testing\//;
const ROUTES = /(^|\/|-)routes\.ts$/;
const SERVICE = /(^|\/|-)service\.ts$/;
const STORE = /(^|\/|-)store\.ts$/;
const DATABASE = /^server\/infrastructure\/database\//;
/** What a command without a server loads: each of the libraries would double its time. */
const CLIENT = /^server\/(commands\/operator(\.ts|\/)|infrastructure\/config\/(config|settings)\.ts)/;
const SERVER_LIBRARY = /^(fastify|kysely|pg|typebox)$/;

const RULES: readonly Rule[] = [
  {
    name: 'routes do not import stores',
    fix: 'call the service, and export the types that routes need from it',
    forbids: ({ from, to }) => ROUTES.test(from) && STORE.test(to),
  },
  {
    name: 'stores do not import services or routes',
    fix: 'pass the value as a parameter, or move the shared type to schema.ts',
    forbids: ({ from, to }) => STORE.test(from) && (SERVICE.test(to) || ROUTES.test(to)),
  },
  {
    name: "modules do not import another module's store",
    fix: "call the other module's service",
    forbids: ({ from, to }, { modules }) =>
      from.startsWith('server/') && STORE.test(to) && moduleOf(from, modules) !== moduleOf(to, modules),
  },
  {
    name: 'only stores and server/infrastructure/database contain SQL',
    fix: 'move the statement to the store, and export the types that others need from it',
    forbids: ({ from, to }) =>
      from.startsWith('server/') && !STORE.test(from) && !DATABASE.test(from) && to === 'kysely',
  },
  {
    name: 'server/infrastructure does not import product folders',
    fix: 'pass a function in from server/app.ts, or move the file to the product folder',
    forbids: ({ from, to }) => from.startsWith('server/infrastructure/') && PRODUCT.test(to),
  },
  {
    name: 'dashboard imports only types, and values of files that run in a browser, from server',
    fix: 'use import type, or move the value to a file that imports no Node module, service, store or routes',
    forbids: ({ from, to, isType }, { imports }) =>
      from.startsWith('dashboard/') && to.startsWith('server/') && !isType && reaches(to, needsNode, imports),
  },
  {
    name: 'settings and the command operator load no library of the server',
    fix: 'use import type, or move the value to a file without such an import',
    forbids: ({ from, to, isType }, { imports }) =>
      CLIENT.test(from) && !isType && reaches(to, (file) => SERVER_LIBRARY.test(file), imports),
  },
  {
    name: 'only tests import testing/',
    fix: 'move the shared code out of testing/',
    forbids: ({ from, to }) => SHIPPED.test(from) && TESTING.test(to),
  },
];

/** `sources` maps paths relative to the repository to their text. Tests are exempt: they may use everything. */
export function violationsIn(sources: ReadonlyMap<string, string>): Violation[] {
  const checked = [...sources].filter(([file]) => !file.endsWith('.test.ts') && !TESTING.test(file));
  const imports = new Map(checked.map(([file, text]) => [file, readImports(file, text)]));
  const modules = new Set([...sources.keys()].filter((file) => SERVICE.test(file)).map(posix.dirname));
  const graph = { imports, modules };
  return [...imports.values()].flat().flatMap((edge) =>
    RULES.filter(({ forbids }) => forbids(edge, graph)).map(({ name, fix }) => ({
      file: edge.from,
      rule: `${name} (${edge.to})`,
      fix,
    })),
  );
}

/** The TypeScript files of the repository, by path. */
export function readSources(root: string): Map<string, string> {
  const files = globSync('{server,dashboard,sdk,cli,bin}/**/*.{ts,tsx}', { cwd: root });
  return new Map(files.map((file) => [file.replaceAll('\\', '/'), readFileSync(join(root, file), 'utf8')]));
}

/** A module is the nearest folder with a service; a folder below it, such as deliveries/queue, is part of it. */
function moduleOf(file: string, modules: ReadonlySet<string>): string {
  let folder = posix.dirname(file);
  while (folder !== '.' && !modules.has(folder)) folder = posix.dirname(folder);
  return folder;
}

function needsNode(file: string): boolean {
  return file.startsWith('node:') || ROUTES.test(file) || SERVICE.test(file) || STORE.test(file);
}

/** Whether a file, or one that it loads, is such a file or package. */
function reaches(
  file: string,
  isSuch: (file: string) => boolean,
  imports: Graph['imports'],
  seen = new Set<string>(),
): boolean {
  if (isSuch(file)) return true;
  if (seen.has(file)) return false;
  seen.add(file);
  return (imports.get(file) ?? []).some(({ to, isType }) => !isType && reaches(to, isSuch, imports, seen));
}
