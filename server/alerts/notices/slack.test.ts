import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DescribedAlert } from './email.ts';
import { slackText } from './slack.ts';

/** Discord refuses more. */
const MAX_CHARACTERS = 2_000;
const URL = `https://portico.test/alerts?org=${'a'.repeat(32)}`;

function alertOf(number: number, given: Partial<DescribedAlert> = {}): DescribedAlert {
  const message = `Message ${number}. ${'It is long. '.repeat(20)}`;
  const createdAt = new Date('2026-11-15T12:00:00Z');
  return { guid: '0', title: `Alert ${number}`, message, createdAt, environment: 'sandbox', ...given };
}

const alertsOf = (count: number) => Array.from({ length: count }, (_, index) => alertOf(index + 1));

test('a message has as many of the newest alerts as fit, and counts the rest', () => {
  const text = slackText('Acme', alertsOf(50), URL);
  assert.ok(text.length <= MAX_CHARACTERS, `${text.length} characters`);
  const shown = [...text.matchAll(/\*Alert (\d+)\*\nMessage \d+/g)].map(([, number]) => Number(number));
  assert.ok(shown.length >= 5, `${shown.length} alerts`);
  assert.deepEqual(
    shown,
    Array.from({ length: shown.length }, (_, index) => 51 - shown.length + index),
  );
  assert.match(text, new RegExp(`And ${50 - shown.length} earlier alerts of this kind\\.`));
  assert.ok(text.endsWith(`Acme · <${URL}|View alerts>`));
  assert.doesNotMatch(text, /…/);
  const oneMore = slackText('Acme', alertsOf(shown.length + 1), URL);
  assert.match(oneMore, /And 1 earlier alert of this kind\./);
});

test('alerts that fit are all described', () => {
  const text = slackText('Acme', alertsOf(3), URL);
  assert.match(text, /Alert 1\*.*Alert 2\*.*Alert 3\*/s);
  assert.doesNotMatch(text, /earlier alert/);
});

test('a single long alert is shortened, not within an escaped character or a pair of surrogates', () => {
  for (const part of ['&', '<b>', '😀', 'x😀', '10.0.0.0/8, '])
    for (let shift = 0; shift < 6; shift++) {
      const long = 'y'.repeat(shift) + part.repeat(5_000);
      const alerts = [alertOf(1), alertOf(2, { title: long, message: long })];
      const text = slackText(long, alerts, URL);
      assert.ok(text.length <= MAX_CHARACTERS, `${text.length} characters`);
      assert.ok(text.isWellFormed());
      assert.doesNotMatch(text, /&(?!(amp|lt|gt);)/);
      assert.match(text, /…\n_.*sandbox.*And 1 earlier.*View alerts>$/is);
    }
});
