import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { runCommand } from '../../../server/infrastructure/runtime/run-command.ts';
import { PATIENCE_MS } from '../../../testing/app/patience.ts';
import { runCli } from '../testing/cli.ts';

const directory = await mkdtemp(join(tmpdir(), 'portico-completion-'));
after(() => rm(directory, { recursive: true, force: true }));

/** A call of the function as the shell makes it for the words, of which the last is being typed. */
const byFunction = (words: readonly string[]) => `f() {
  COMP_WORDS=(portico ${words.map((word) => `"${word}"`).join(' ')}); COMP_CWORD=${words.length}
  _portico; printf '%s ' "\${COMPREPLY[@]}"
}`;
const SHELLS = {
  bash: { args: ['--norc', '-c'], ask: (words: readonly string[]) => `${byFunction(words)}; f` },
  zsh: { args: ['-f', '-c'], ask: (words: readonly string[]) => `${byFunction(words)}; emulate sh -c f` },
  fish: { args: ['-c'], ask: (words: readonly string[]) => `complete -C 'portico ${words.join(' ')}'` },
};

for (const [shell, { args, ask }] of Object.entries(SHELLS))
  test(`the completion of ${shell} loads, and knows commands, options and values`, async (t) => {
    const installed = await runCommand(shell, ['--version']).catch(() => undefined);
    if (installed?.exitCode !== 0) return t.skip(`there is no ${shell}`);
    const path = join(directory, `completion.${shell}`);
    await writeFile(path, (await runCli(['completion', shell])).out);
    for (const [words, expected] of [
      [['ev'], ['events']],
      [
        ['events', ''],
        ['list', 'resend', 'show'],
      ],
      [['events', 'list', '--t'], ['--type']],
      [
        ['deliveries', 'list', '--state', 'f'],
        ['failed', 'failing'],
      ],
      [
        ['trigger', 'plan.'],
        ['plan.completed', 'plan.failed', 'plan.planning', 'plan.storing'],
      ],
    ] as const) {
      const { stdout, stderr } = await runCommand(shell, [...args, `source ${path}; ${ask(words)}`], {
        timeoutMs: PATIENCE_MS,
      });
      // zsh chooses the words that fit afterwards.
      const offered = stdout
        .split(/\s+/)
        .filter((word) => word !== '' && word.startsWith(words.at(-1) ?? ''));
      assert.deepEqual(offered.toSorted(), expected, `${words}: ${stderr}`);
    }
  });
