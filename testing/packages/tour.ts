import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { findServicePort, type Site } from '../app/serve.ts';

/** Runs the shell blocks of a page, in order and in one shell, against a running service. */
const ROOT = join(import.meta.dirname, '..', '..');
const MARK = '=== block';
/** For all blocks together; a block that polls for something in vain must not poll for ever. */
const TOUR_TIMEOUT_MS = 300_000;

type Block = { shell: string; expected: unknown; lines: readonly string[] };
/** Texts of the first block, which the reader replaces too, and what the test puts there. */
type Inputs = Readonly<Record<string, string>>;

/** Each shell block with the JSON of its last line of output, or with lines that its output contains. */
async function readBlocks(page: string, heading: string | undefined): Promise<Block[]> {
  const text = await readFile(join(ROOT, page), 'utf8');
  const section =
    heading === undefined ? text : new RegExp(`## ${heading}\\n(.*?)(\\n## |$)`, 's').exec(text)?.[1];
  const blocks: Block[] = [];
  for (const [, language, content = ''] of (section ?? '').matchAll(/```(sh|json|text)\n(.*?)```/gs)) {
    if (language === 'sh') blocks.push({ shell: content, expected: undefined, lines: [] });
    else if (language === 'json') Object.assign(blocks.at(-1) as Block, { expected: JSON.parse(content) });
    else Object.assign(blocks.at(-1) as Block, { lines: content.trimEnd().split('\n') });
  }
  return blocks;
}

/** What the pages use of a clone. Copies, where a build would write into the folders of other tests. */
async function copyClone(folder: string): Promise<void> {
  const isOutput = /[\\/]sdk[\\/](dist|.*\.tgz)$/;
  for (const name of ['package.json', 'package-lock.json', 'tsconfig.json', 'LICENSE', 'scripts', 'sdk'])
    await cp(join(ROOT, name), join(folder, name), {
      recursive: true,
      filter: (path) => !isOutput.test(path),
    });
  for (const name of ['node_modules', 'examples']) await symlink(join(ROOT, name), join(folder, name));
}

function lastJson(output: string): unknown {
  const line = output.split('\n').findLast((text) => text.startsWith('{') && text.endsWith('}'));
  return line === undefined ? undefined : JSON.parse(line);
}

const hasCurl = spawnSync('curl', ['--version']).status === 0;
export const TOUR_OPTIONS = { timeout: 2 * TOUR_TIMEOUT_MS, skip: hasCurl ? false : 'curl is not installed' };

/**
 * Without a heading, every block of the page. Pages and sections can run at once: each has a folder of its own, with
 * `inClone` one that has the parts of a clone that a page uses.
 */
export async function takeTour(
  site: Site,
  page: string,
  { heading, inputs, inClone = false }: { heading?: string; inputs: Inputs; inClone?: boolean },
): Promise<void> {
  const blocks = await readBlocks(page, heading);
  assert.ok(blocks.length > 2, `found the blocks of ${page}`);
  // Two levels deep, because a reader may work in a folder beside the clone.
  const folder = join(site.root, `${page} ${heading ?? ''}`.replaceAll('/', ' '), 'portico');
  await mkdir(folder, { recursive: true });
  if (inClone) await copyClone(folder);
  const programs = join(folder, '.programs');
  await mkdir(programs);
  // npx would look for the project around the folder, which is elsewhere here.
  const npx = `#!/bin/sh\nshift; exec '${process.execPath}' '${join(ROOT, 'bin', 'portico.cjs')}' "$@"\n`;
  await writeFile(join(programs, 'npx'), npx, { mode: 0o755 });

  const receiverPort = String(await findServicePort());
  const [settings = '', ...steps] = blocks.map(({ shell }) => shell.replaceAll('4010', receiverPort));
  const script = [
    'set -eu',
    // A block that fails must not leave a process running, which would keep our end of the output open.
    'RECEIVER= LISTENER=',
    "trap 'kill $RECEIVER $LISTENER 2>/dev/null || true' EXIT",
    Object.entries(inputs)
      .reduce((text, [placeholder, value]) => text.replace(placeholder, () => value), settings)
      .replace(/^API=.*$/m, `API=${site.url}`)
      .replaceAll('4010', receiverPort),
    ...steps.map((step) => `echo '${MARK}'\n${step}`),
  ].join('\n');
  const home = { HOME: folder, npm_config_offline: 'true', npm_config_audit: 'false' };
  const env = {
    ...home,
    PATH: `${programs}${delimiter}${process.env.PATH}`,
    PORTICO_PORT: String(site.port),
    PORTICO_DATA_DIR: site.dataDir,
  };
  const options = { cwd: folder, env, timeout: TOUR_TIMEOUT_MS };
  const run = await promisify(execFile)('sh', ['-c', script], options).catch(
    ({ message, stdout, stderr }: Error & { stdout: string; stderr: string }) =>
      assert.fail(`${message}\n${stdout}\n${stderr}`),
  );

  const [, ...outputs] = run.stdout.split(`${MARK}\n`);
  blocks.slice(1).forEach(({ shell, expected, lines }, index) => {
    const output = outputs[index] ?? '';
    const told = `${shell}\n${output}`;
    if (expected !== undefined) assert.deepEqual(lastJson(output), expected, told);
    // The receiver runs beside the shell, so its lines may be in the output of a later block.
    const later = outputs.slice(index).join('');
    for (const line of lines) assert.ok(later.includes(line), `${line}\n\nnot in the output of\n\n${told}`);
  });
}
