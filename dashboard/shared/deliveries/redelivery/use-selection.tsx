import { Checkbox, Group } from '@mantine/core';
import { useState } from 'react';
import type { Delivery } from '../../../api/types.ts';
import type { Column } from '../../table/DataTable.tsx';
import { useDeliveringSubscriptions } from '../use-delivering-subscriptions.ts';

/** Each is a call of the API, and their outcomes are read by guid: both take at most 100. */
export const MAX_SELECTED = 100;

export type Selection = ReturnType<typeof useSelection>;

/** Selects deliveries for a redelivery, also over several pages. */
export function useSelection() {
  const [selected, setSelected] = useState<ReadonlyMap<string, Delivery>>(new Map());
  const delivering = useDeliveringSubscriptions() ?? [];
  const isSelectable = ({ subscription_guid: guid }: Delivery) => delivering.includes(guid);

  function change(deliveries: readonly Delivery[], isSelected: boolean): void {
    const next = new Map(selected);
    for (const delivery of deliveries)
      if (!isSelected) next.delete(delivery.guid);
      else if (next.size < MAX_SELECTED && isSelectable(delivery)) next.set(delivery.guid, delivery);
    setSelected(next);
  }

  /** Within the first column, because on a phone that is the title of a row. */
  const withCheckbox = (column: Column<Delivery>): Column<Delivery> => ({
    ...column,
    cell: (delivery) => (
      <Group gap="sm" wrap="nowrap">
        <Checkbox
          size="xs"
          checked={selected.has(delivery.guid)}
          disabled={!isSelectable(delivery)}
          onChange={({ currentTarget }) => change([delivery], currentTarget.checked)}
          aria-label={`Select ${delivery.event_type} ${delivery.guid.slice(-6)}`}
        />
        {column.cell(delivery)}
      </Group>
    ),
  });

  return {
    isOffered: delivering.length > 0,
    selected: [...selected.values()],
    has: (delivery: Delivery) => selected.has(delivery.guid),
    isSelectable,
    change,
    clear: () => setSelected(new Map()),
    withCheckbox,
  };
}
