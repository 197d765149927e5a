import type { InboxAnswer } from '../../api/types.ts';

export const ANSWERS: readonly { value: InboxAnswer; label: string; effect: string }[] = [
  { value: 'success', label: '200', effect: 'Answers 200 at once: the attempt succeeds.' },
  {
    value: 'error',
    label: '500',
    effect: 'Answers 500: the attempt is rejected, and the delivery is retried.',
  },
  {
    value: 'slow',
    label: 'Slow',
    effect: 'Answers 200 after 5 seconds: the attempt succeeds, and is marked as slow.',
  },
  {
    value: 'hang',
    label: 'Hang',
    effect: 'Does not answer: each attempt times out after 10 seconds, and the delivery is retried.',
  },
  {
    value: 'refuse',
    label: 'Refuse',
    effect:
      'Closes the connection without an answer: the attempt is unreachable, and the delivery is retried.',
  },
];

export function answerLabel(answer: InboxAnswer): string {
  return ANSWERS.find(({ value }) => value === answer)?.label ?? answer;
}
