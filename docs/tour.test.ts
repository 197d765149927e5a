import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { BOUNDED, createSite, waitFor } from '../testing/serve.ts';

/** The README's tour, block by block as it stands there, against a service that was just started. */
const ROOT = join(import.meta.dirname, '..');
const MARK = '=== block';

type Block = { shell: string; expected: unknown };

/** Each shell block of the tour with the JSON block that shows its answer, where there is one. */
async function tourBlocks(): Promise<Block[]> {
  const readme = await readFile(join(ROOT, 'README.md'), 'utf8');
  const tour = /## A five-minute tour\n(.*?)\n## /s.exec(readme)?.[1] ?? '';
  const blocks: Block[] = [];
  for (const [, language, text = ''] of tour.matchAll(/```(sh|json)\n(.*?)```/gs)) {
    if (language === 'sh') blocks.push({ shell: text, expected: undefined });
    else Object.assign(blocks.at(-1) as Block, { expected: JSON.parse(text) });
  }
  return blocks;
}

/** The last line that is JSON: what the block showed in the end. */
function lastJson(output: string): unknown {
  const line = output.split('\n').findLast((text) => text.startsWith('{') && text.endsWith('}'));
  return line === undefined ? undefined : JSON.parse(line);
}

const hasCurl = spawnSync('curl', ['--version']).status === 0;
const options = { ...BOUNDED, skip: hasCurl ? false : 'there is no curl here to take the tour with' };

test('every command of the README’s tour works and answers what the README shows', options, async (t) => {
  const site = await createSite(t);
  const service = await site.serve();
  await waitFor('the welcome', service, () => service.out().includes('Ctrl-C'));
  const credential = (name: string) => new RegExp(`${name} +(\\S+)`).exec(service.out())?.[1] ?? '';
  const blocks = await tourBlocks();
  assert.ok(blocks.length > 5, 'the tour was found');

  const [settings = '', ...steps] = blocks.map(({ shell }) => shell);
  const script = [
    'set -eu',
    // npx would look for the project around the folder, which is elsewhere here.
    `npx() { shift; PORTICO_PORT=${site.port} node '${join(ROOT, 'bin', 'portico.cjs')}' "$@"; }`,
    settings
      .replace('the client_id', credential('client_id'))
      .replace('the client_secret', credential('client_secret'))
      .replace('http://localhost:4000', site.url),
    ...steps.map((step) => `echo '${MARK}'\n${step}`),
  ].join('\n');
  const run = spawnSync('sh', ['-c', script], {
    cwd: site.root,
    encoding: 'utf8',
    env: { PATH: process.env.PATH },
  });
  assert.equal(run.status, 0, `${run.stdout}\n${run.stderr}`);

  const [, ...outputs] = run.stdout.split(`${MARK}\n`);
  blocks.slice(1).forEach(({ shell, expected }, index) => {
    const shown = lastJson(outputs[index] ?? '');
    if (expected !== undefined) assert.deepEqual(shown, expected, `${shell}\n${outputs[index]}`);
  });
});
