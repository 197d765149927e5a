import { test } from 'node:test';
import { TOUR_OPTIONS, takeTour } from '../../testing/tour.ts';

test('docs/partners/repeated-requests.md: every command works and prints what is shown', TOUR_OPTIONS, (t) =>
  takeTour(t, 'docs/partners/repeated-requests.md', { heading: 'Try it' }),
);
