const STEPS = [
  { name: 'bank', title: 'Sandbox bank', meaning: 'Where you try everything without consequences' },
  { name: 'key', title: 'Bank key', meaning: 'What your program gets its tokens with' },
  { name: 'subscription', title: 'Subscription', meaning: 'Where the events are sent', needsWebhooks: true },
  { name: 'test', title: 'Test event', meaning: 'Seen to arrive', needsWebhooks: true },
  { name: 'call', title: 'First call', meaning: 'A command to paste' },
] as const;

export type StepName = (typeof STEPS)[number]['name'];

/** Nobody is shown steps that their Organization cannot take. */
export function stepsOf(hasWebhooks: boolean) {
  return STEPS.filter((step) => hasWebhooks || !('needsWebhooks' in step));
}
