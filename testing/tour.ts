import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { BOUNDED, createSite, findServicePort, waitFor } from './serve.ts';

/** A tour of a document, block by block as it stands there, against a service that was just started. */
const ROOT = join(import.meta.dirname, '..');
const MARK = '=== block';
/** The whole tour; a step that waits for something in vain must not wait for ever. */
const TOUR_TIMEOUT_MS = 120_000;

type Block = { shell: string; expected: unknown; lines: readonly string[] };

/** Each shell block below a heading with the JSON that it answers in the end, or the lines that are part of its output. */
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

/** The last line that is JSON: what the block showed in the end. */
function lastJson(output: string): unknown {
  const line = output.split('\n').findLast((text) => text.startsWith('{') && text.endsWith('}'));
  return line === undefined ? undefined : JSON.parse(line);
}

const hasCurl = spawnSync('curl', ['--version']).status === 0;
export const TOUR_OPTIONS = {
  ...BOUNDED,
  skip: hasCurl ? false : 'there is no curl here to take the tour with',
};

export async function takeTour(t: TestContext, page: string, heading: string): Promise<void> {
  const site = await createSite(t);
  const service = await site.serve();
  await waitFor('the welcome', service, () => service.out().includes('Ctrl-C'));
  const credential = (name: string) => new RegExp(`${name} +(\\S+)`).exec(service.out())?.[1] ?? '';
  const blocks = await readBlocks(page, heading);
  assert.ok(blocks.length > 5, 'the tour was found');

  const receiverPort = String(await findServicePort());
  const [settings = '', ...steps] = blocks.map(({ shell }) => shell.replaceAll('4010', receiverPort));
  const script = [
    'set -eu',
    // A step that fails leaves no receiver behind, which would hold on to our end of the output.
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
    // What the receiver says comes when it comes, so it may be among what the next block shows.
    const later = outputs.slice(index).join('');
    for (const line of lines) assert.ok(later.includes(line), `${line}\n\nnot in the output of\n\n${told}`);
  });
}
