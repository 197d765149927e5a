import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

/** SQL gets the time as a parameter, so that tests control it (conventions in CONTRIBUTING.md). */
const ROOT = join(import.meta.dirname, '..', '..');
const FILES = globSync('**/{*.sql,*store.ts,database/**/*.ts}', { cwd: ROOT }).filter(
  (file) => !file.endsWith('.test.ts'),
);
const CLOCK_OF_THE_DATABASE =
  /\b(now|clock_timestamp|statement_timestamp|transaction_timestamp|timeofday)\s*\(\s*\)|\b(current_timestamp|current_date|current_time|localtimestamp|localtime)\b|'(now|today|tomorrow|yesterday)'/i;

/**
 * The caller is not trusted to pass the time: the service role may drop only partitions that are old by the database's
 * own clock.
 */
const EXCEPTION = {
  files: ['0029_partition_functions.sql', '0051_request_log.sql', '0077_partition_drops.sql'].map(
    (name) => `infrastructure/database/migrations/${name}`,
  ),
  text: 'ended > clock_timestamp() - kept',
};

function readSql(file: string): string {
  const text = sqlOf(readFileSync(join(ROOT, file), 'utf8'));
  return EXCEPTION.files.includes(file) ? text.replace(EXCEPTION.text, '') : text;
}

function sqlOf(text: string): string {
  // Comments may mention it, and `clock.now()` is the application's clock.
  return text.replaceAll(/--.*|\/\*[\s\S]*?\*\/|(?<!:)\/\/.*/g, '').replaceAll(/\b\w+\.now\(\)/g, '');
}

test('the pattern matches the clock of the database and not that of the application', () => {
  for (const text of [
    'select now()',
    'set x = NOW ( )',
    'default current_timestamp',
    "x > 'now'::timestamptz",
  ])
    assert.match(sqlOf(text), CLOCK_OF_THE_DATABASE);
  for (const text of ['at: clock.now()', '-- never now()', 'select known(x)', 'window_started_at < $1'])
    assert.doesNotMatch(sqlOf(text), CLOCK_OF_THE_DATABASE);
});

test('no SQL reads the clock of the database', () => {
  assert.ok(FILES.some((file) => file.endsWith('.sql')) && FILES.some((file) => file.endsWith('store.ts')));
  const guilty = FILES.filter((file) => CLOCK_OF_THE_DATABASE.test(readSql(file)));
  assert.deepEqual(guilty, []);
});
