import { test } from 'node:test';
import { TOUR_OPTIONS, takeTour } from '../../testing/tour.ts';

test('docs/partners/trading.md: every command works and prints what is shown', TOUR_OPTIONS, (t) =>
  takeTour(t, 'docs/partners/trading.md', { heading: 'Try it' }),
);
