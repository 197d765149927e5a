import { Alert, Button, Checkbox, Group, Progress as ProgressBar, Text } from '@mantine/core';
import type { Delivery } from '../../../api/types.ts';
import { Icon } from '../../text/Icon.tsx';
import { DELIVERY_STATES, deliveryLabel } from '../delivery-labels.ts';
import type { RedeliveryOfMany } from './use-redeliver-many.ts';
import { MAX_SELECTED, type Selection } from './use-selection.tsx';

/** Above a list of deliveries: select the page, and redeliver what is selected. */
export function RedeliverSelected({
  selection,
  listed,
  redelivery: { start, isRunning },
}: {
  selection: Selection;
  listed: readonly Delivery[];
  redelivery: RedeliveryOfMany;
}) {
  const { selected, change, clear } = selection;
  const selectable = listed.filter(selection.isSelectable);
  const isAll = selectable.length > 0 && selectable.every(selection.has);
  const redeliver = () => {
    start(selected);
    clear();
  };
  if (selectable.length === 0 && selected.length === 0) return null;
  return (
    <Group gap="md" mih={30}>
      <Checkbox
        size="xs"
        label="Select this page"
        checked={isAll}
        indeterminate={!isAll && selectable.some(selection.has)}
        onChange={({ currentTarget }) => change(selectable, currentTarget.checked)}
      />
      {selected.length > 0 ? (
        <>
          <Text size="sm" role="status">
            {selected.length} selected{selected.length === MAX_SELECTED ? ', the most at a time' : null}
          </Text>
          <Button
            size="compact-sm"
            leftSection={<Icon name="send" size={14} />}
            loading={isRunning}
            onClick={redeliver}
          >
            Redeliver {selected.length}
          </Button>
          <Button size="compact-sm" variant="subtle" onClick={clear}>
            Clear selection
          </Button>
        </>
      ) : null}
    </Group>
  );
}

/** What became of the redeliveries. */
export function RedeliveryOutcomes({ redelivery }: { redelivery: RedeliveryOfMany }) {
  const { progress, isRunning, outcomes, close } = redelivery;
  if (!progress) return null;
  const { total, created, errors } = progress;
  const done = created.length + errors.length;
  const [error] = errors;
  return (
    <Alert
      variant="light"
      color={errors.length > 0 ? 'orange' : 'blue'}
      py="xs"
      mx="md"
      my="xs"
      withCloseButton={!isRunning}
      closeButtonLabel="Close"
      onClose={close}
      title={isRunning ? `${done} of ${total} queued` : summaryOf(created.length, outcomes)}
      role="status"
    >
      {isRunning ? (
        <ProgressBar value={(done / total) * 100} size="sm" aria-label="Redelivery progress" />
      ) : null}
      {error ? (
        <Text size="sm">
          {errors.length} of {total} could not be queued: {error.message}
        </Text>
      ) : null}
    </Alert>
  );
}

/** "3 redeliveries: 2 Delivered, 1 Retrying". */
function summaryOf(count: number, outcomes: readonly Delivery[] | undefined): string {
  const what = count === 1 ? '1 redelivery' : `${count} redeliveries`;
  const labels = outcomes?.map(deliveryLabel) ?? [];
  const counts = DELIVERY_STATES.map(
    ({ label }) => [label, labels.filter((each) => each === label).length] as const,
  ).filter(([, number]) => number > 0);
  if (counts.length === 0) return `${what} queued …`;
  return `${what}: ${counts.map(([label, number]) => `${number} ${label}`).join(', ')}`;
}
