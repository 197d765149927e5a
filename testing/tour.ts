import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { BOUNDED, createSite, findServicePort, waitFor } from './serve.ts';

/** Runs the shell blocks of a document against a service that was just started. */
const ROOT = join(import.meta.dirname, '..');
const MARK = '=== block';
/** For the whole document. */
const TOUR_TIMEOUT_MS = 120_000;

type Block = { shell: string; expected: unknown; lines: readonly string[] };

/** Each shell block below a heading with the JSON of its last output, or the expected lines of its output. */
async function readBlocks(page: string, heading: string): Promise<Block[]> {
  const text = await readFile(join(ROOT, page), 'utf8');
  const tour = new RegExp(`## ${heading}\\n(.*?)\\n## `, 's').exec(text)?.[1] ?? '';
  const blocks: Block[] = [];
  for (const [, language, content = ''] of tour.matchAll(/```(sh|json|text)\n(.*?)```/gs)) {
    if (language === 'sh') blocks.push({ shell: content, expected: undefined, lines: [] });
    else if (language === 'json') Object.assign(blocks.at(-1) as Block, { expected: JSON.parse(content) });
    else Object.assign(blocks.at(-1) as Block, { lines: content.trimEnd().split('\n') });
  }
  return blocks;
}

/** The last line that is JSON. */
function lastJson(output: string): unknown {
  const line = output.split('\n').findLast((text) => text.startsWith('{') && text.endsWith('}'));
  return line === undefined ? undefined : JSON.parse(line);
}

const hasCurl = spawnSync('curl', ['--version']).status === 0;
export const TOUR_OPTIONS = {
  ...BOUNDED,
  skip: hasCurl ? false : 'curl is not installed',
};

export async function takeTour(t: TestContext, page: string, heading: string): Promise<void> {
  const site = await createSite(t);
  const service = await site.serve();
  await waitFor('the welcome', service, () => service.out().includes('Ctrl-C'));
  const credential = (name: string) => new RegExp(`${name} +(\\S+)`).exec(service.out())?.[1] ?? '';
  const blocks = await readBlocks(page, heading);
  assert.ok(blocks.length > 5, 'blocks were found');

  const receiverPort = String(await findServicePort());
  const [settings = '', ...steps] = blocks.map(({ shell }) => shell.replaceAll('4010', receiverPort));
  const script = [
    'set -eu',
    // A failed step must stop its receiver, which would keep the output open.
    'RECEIVER=',
    'trap \'test -z "$RECEIVER" || kill "$RECEIVER" 2>/dev/null || true\' EXIT',
    // npx would look for the project around the folder, which is elsewhere here.
    `npx() { shift; PORTICO_PORT=${site.port} node '${join(ROOT, 'bin', 'portico.cjs')}' "$@"; }`,
    settings
      .replace('the client_id', credential('client_id'))
      .replace('the client_secret', credential('client_secret'))
      .replace(/^API=.*$/m, `API=${site.url}`),
    ...steps.map((step) => `echo '${MARK}'\n${step}`),
  ].join('\n');
  const run = spawnSync('sh', ['-c', script], {
    cwd: site.root,
    encoding: 'utf8',
    env: { PATH: process.env.PATH },
    timeout: TOUR_TIMEOUT_MS,
  });
  assert.equal(run.status, 0, `${run.stdout}\n${run.stderr}`);

  const [, ...outputs] = run.stdout.split(`${MARK}\n`);
  blocks.slice(1).forEach(({ shell, expected, lines }, index) => {
    const output = outputs[index] ?? '';
    const told = `${shell}\n${output}`;
    if (expected !== undefined) assert.deepEqual(lastJson(output), expected, told);
    // Output of the receiver may appear in that of the next block.
    const later = outputs.slice(index).join('');
    for (const line of lines) assert.ok(later.includes(line), `${line}\n\nnot in the output of\n\n${told}`);
  });
}
