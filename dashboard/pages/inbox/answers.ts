import type { InboxAnswer } from '../../api/types.ts';

export const ANSWERS: readonly { value: InboxAnswer; label: string; effect: string }[] = [
  { value: 'success', label: '200', effect: 'Answers 200: deliveries are delivered.' },
  { value: 'error', label: '500', effect: 'Answers 500: deliveries are retried.' },
  { value: 'slow', label: 'Slow', effect: 'Answers 200 after 5 seconds: still in time.' },
  { value: 'hang', label: 'Hang', effect: 'Does not answer: each attempt times out after 10 seconds.' },
  { value: 'refuse', label: 'Refuse', effect: 'Closes the connection without an answer.' },
];

export function answerLabel(answer: InboxAnswer): string {
  return ANSWERS.find(({ value }) => value === answer)?.label ?? answer;
}
