import { test } from 'node:test';
import { TOUR_OPTIONS, takeTour } from '../testing/tour.ts';

test('README.md: every command of the first steps works and prints what is shown', TOUR_OPTIONS, (t) =>
  takeTour(t, 'README.md', { heading: 'First steps' }),
);

test('docs/tour.md: every command works and prints what is shown', TOUR_OPTIONS, (t) =>
  takeTour(t, 'docs/tour.md'),
);
