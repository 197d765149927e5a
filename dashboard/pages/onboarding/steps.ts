const STEPS = [
  { name: 'bank', title: 'Sandbox bank', description: 'Test without moving real money' },
  { name: 'key', title: 'Bank key', description: 'Get tokens for your application' },
  {
    name: 'subscription',
    title: 'Subscription',
    description: 'Receive events at your endpoint',
    needsWebhooks: true,
  },
  { name: 'test', title: 'Test event', description: 'Check that your endpoint works', needsWebhooks: true },
  { name: 'call', title: 'First call', description: 'Call the API with curl' },
] as const;

export type StepName = (typeof STEPS)[number]['name'];

export function stepsOf(hasWebhooks: boolean) {
  return STEPS.filter((step) => hasWebhooks || !('needsWebhooks' in step));
}
