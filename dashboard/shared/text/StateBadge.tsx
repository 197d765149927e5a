import { Badge } from '@mantine/core';

type Look = { color: string; label?: string };

/** Green: done. Blue: under way. Orange: trouble that may pass. Red: over. Grey: waits. */
const LOOKS: Record<string, Look> = {
  active: { color: 'teal' },
  completed: { color: 'teal' },
  executed: { color: 'teal' },
  storing: { color: 'blue' },
  pending: { color: 'blue' },
  running: { color: 'blue' },
  planning: { color: 'blue' },
  executing: { color: 'blue' },
  settling: { color: 'blue' },
  reviewing: { color: 'blue' },
  waiting: { color: 'yellow' },
  holding: { color: 'yellow' },
  invited: { color: 'yellow' },
  failing: { color: 'orange' },
  retrying: { color: 'orange' },
  deleting: { color: 'orange' },
  failed: { color: 'red' },
  cancelled: { color: 'gray' },
  expired: { color: 'gray' },
  rejected: { color: 'red' },
  timeout: { color: 'red', label: 'timed out' },
  unreachable: { color: 'red' },
};

/** `word` is for a state whose name in the API says little to people. */
export function StateBadge({ state, word = state }: { state: string; word?: string }) {
  const { color, label = word } = LOOKS[word] ?? LOOKS[state] ?? { color: 'gray' };
  return (
    <Badge
      variant="light"
      color={color}
      radius="sm"
      tt="none"
      fw={600}
      size="md"
      miw="max-content"
      data-state={state}
    >
      {label}
    </Badge>
  );
}
