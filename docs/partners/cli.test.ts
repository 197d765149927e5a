import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { COMMANDS } from '../../cli/src/commands/commands.ts';
import { EXIT } from '../../cli/src/failure.ts';
import { createCli } from '../../cli/src/testing/cli.ts';
import { createTestApp } from '../../testing/app/app.ts';
import { BOUNDED } from '../../testing/app/serve.ts';
import { createTenant } from '../../testing/app/tenant.ts';

const page = await readFile(join(import.meta.dirname, 'cli.md'), 'utf8');
const rowsOf = (heading: string) =>
  page
    .split(`## ${heading}\n`)[1]
    ?.split('\n## ')[0]
    ?.split('\n')
    .filter((line) => /^\| [`\d]/.test(line)) ?? [];

test('the table has every command, and every option that it names exists', () => {
  const named = rowsOf('Commands').flatMap((row) =>
    [...(row.split(' | ')[0]?.matchAll(/`([^`]+)`/g) ?? [])].map(([, text = '']) => text),
  );
  for (const { name } of COMMANDS)
    assert.ok(
      named.some((text) => text === name || text.startsWith(`${name} `)),
      name,
    );
  for (const text of named) {
    const command = COMMANDS.find(({ name }) => text === name || text.startsWith(`${name} `));
    for (const [, option = ''] of text.matchAll(/--([\w-]+)/g))
      assert.ok(Object.hasOwn(command?.options ?? {}, option), text);
  }
});

test('the table of exit codes is complete', () => {
  const codes = rowsOf('Exit codes').map((row) => Number(/\d+/.exec(row)?.[0]));
  assert.deepEqual(codes, [0, ...Object.values(EXIT)]);
});

test('the fixtures of the page run', BOUNDED, async () => {
  const app = await createTestApp();
  const { cli, as, configDir } = await createCli(app);
  const tenant = await createTenant(app);
  const path = join(configDir, 'page.json');
  await writeFile(path, /```json\n(.*?)```/s.exec(page)?.[1] ?? '');
  const { code, out, err } = await cli(['fixtures', 'run', path, '--json'], {
    env: as(tenant.organizationKey),
  });
  assert.equal(code, 0, err);
  assert.equal(JSON.parse(out).transfer.state, 'completed');
});
