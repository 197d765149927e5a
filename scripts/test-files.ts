import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dependentsOf, type ImportGraph, listProjectFiles, readImportGraph } from './import-graph.ts';

const PATTERNS = [
  'server',
  'dashboard',
  'testing',
  'scripts',
  'docs',
  'examples',
  'e2e',
  'sdk',
  'cli',
  'torture',
  'bench',
  'simulation',
].map((folder) => `${folder}/**/*.test.ts`);
/** How long each file took in earlier runs on this machine, in ms. */
const TIMES_FILE = join('node_modules', '.cache', 'portico-test-times.json');
/** Without a time: tests of processes and pages take the longest. */
const SLOW_FOLDERS = /^(e2e|server\/commands|simulation|docs|examples|scripts)\//;
const UNKNOWN_SLOW_MS = 100_000;

/** Files that a test reads or starts without importing them. */
const LOADED_OTHERWISE: readonly (readonly [file: string, loads: RegExp])[] = [
  ['testing/app/serve.ts', /^(bin\/|server\/main\.ts$)/],
  ['testing/packages/tour.ts', /^(README\.md$|docs\/.*\.md$)/],
  ['testing/database/database.ts', /^server\/.*\.sql$/],
  ['server/dashboard/build.ts', /^(dashboard\/(main\.tsx|guides\/main\.ts)|docs\/partners\/.*\.md)$/],
  ['e2e/support/browser.ts', /^(dashboard\/main\.tsx|dashboard\/guides\/main\.ts|server\/main\.ts)$/],
];
/** A change of these can affect every test. */
const AFFECTS_ALL =
  /^(package(-lock)?\.json|tsconfig\.json|scripts\/(test[\w-]*|setup[\w-]*)\.c?ts|testing\/throwaway-settings\.ts)$/;

/** `args` are path prefixes, or `--changed` with an optional commit: `--changed=main`. */
export function selectTestFiles(args: readonly string[]): string[] {
  const all = globSync(PATTERNS);
  const prefixes = args.filter((arg) => !arg.startsWith('--'));
  const changed = args.find((arg) => /^--changed(=|$)/.test(arg));
  const unknown = args.find((arg) => arg.startsWith('--') && arg !== changed);
  if (unknown) throw new Error(`${unknown} is not an option. Options: --changed, --changed=<commit>`);
  const wanted = all.filter(
    (file) => prefixes.length === 0 || prefixes.some((prefix) => file.startsWith(prefix)),
  );
  if (changed === undefined) return longestFirst(wanted);
  const affected = affectedBy(changedFiles(changed.split('=')[1] ?? 'HEAD'));
  if (affected === 'all') return longestFirst(wanted);
  // In the order in which they were found: the tests nearest to the change come first.
  return [...affected].filter((file) => wanted.includes(file));
}

export function saveTimes(times: ReadonlyMap<string, number>): void {
  writeFileSync(TIMES_FILE, JSON.stringify({ ...readTimes(), ...Object.fromEntries(times) }));
}

function changedFiles(commit: string): string[] {
  const git = (...args: string[]) =>
    execFileSync('git', args, { encoding: 'utf8' }).split('\n').filter(Boolean);
  return [...git('diff', '--name-only', commit), ...git('ls-files', '--others', '--exclude-standard')];
}

function affectedBy(changed: readonly string[]): ReadonlySet<string> | 'all' {
  if (changed.some((file) => AFFECTS_ALL.test(file))) return 'all';
  return dependentsOf(withOtherLoads(), changed);
}

function withOtherLoads(): ImportGraph {
  const files = listProjectFiles('.');
  const graph = new Map([...readImportGraph('.', files)].map(([file, imports]) => [file, new Set(imports)]));
  for (const [file, loads] of LOADED_OTHERWISE)
    for (const loaded of files) if (loads.test(loaded)) graph.get(file)?.add(loaded);
  // Each page of documentation is read by the tests beside it.
  for (const file of files.filter((name) => /^docs\/.*\.test\.ts$/.test(name)))
    for (const page of files) if (page.endsWith('.md')) graph.get(file)?.add(page);
  return graph;
}

/** Longest first, so that no core is left with a long file at the end. */
function longestFirst(files: readonly string[]): string[] {
  const times = readTimes();
  const weight = (file: string) =>
    times[file] ?? statSync(file).size + (SLOW_FOLDERS.test(file) ? UNKNOWN_SLOW_MS : 0);
  return [...files].sort((one, other) => weight(other) - weight(one));
}

function readTimes(): Record<string, number> {
  try {
    return JSON.parse(readFileSync(TIMES_FILE, 'utf8'));
  } catch {
    return {};
  }
}
