import { Badge } from '@mantine/core';

type Style = { color: string; label?: string };

/** Teal: succeeded. Blue: in progress. Yellow: waiting. Orange: failing, may recover. Red: failed. Gray: ended. */
const STYLES: Record<string, Style> = {
  active: { color: 'teal' },
  completed: { color: 'teal' },
  created: { color: 'teal' },
  executed: { color: 'teal' },
  used: { color: 'teal' },
  open: { color: 'blue' },
  storing: { color: 'blue' },
  pending: { color: 'blue' },
  running: { color: 'blue' },
  planning: { color: 'blue' },
  executing: { color: 'blue' },
  settling: { color: 'blue' },
  reviewing: { color: 'blue' },
  waiting: { color: 'yellow' },
  paused: { color: 'yellow' },
  holding: { color: 'yellow' },
  invited: { color: 'yellow' },
  failing: { color: 'orange' },
  Retrying: { color: 'orange' },
  deleting: { color: 'orange' },
  failed: { color: 'red' },
  cancelled: { color: 'gray' },
  expired: { color: 'gray' },
  deleted: { color: 'gray' },
  rejected: { color: 'red' },
  timeout: { color: 'red' },
  unreachable: { color: 'red' },
};

/** `label` replaces the API's name of the state. */
export function StateBadge({ state, label = state }: { state: string; label?: string }) {
  const { color, label: ownLabel = label } = STYLES[label] ?? STYLES[state] ?? { color: 'gray' };
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
      {ownLabel}
    </Badge>
  );
}
