import { test } from 'node:test';
import { TOUR_OPTIONS, takeTour } from '../testing/tour.ts';

test('every command of the README’s tour works and answers what the README shows', TOUR_OPTIONS, (t) =>
  takeTour(t, 'README.md', 'A five-minute tour'),
);
