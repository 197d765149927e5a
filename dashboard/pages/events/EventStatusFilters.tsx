import { Select } from '@mantine/core';
import { DeliveryStateFilter } from '../../shared/deliveries/DeliveryStateFilter.tsx';
import { useSubscriptions } from '../../shared/deliveries/use-subscriptions.ts';
import { useFilters } from '../../shared/filters/use-filters.ts';

/** Events by the state of a delivery, of any subscription or of one. */
export function EventStatusFilters() {
  const { filters, change } = useFilters();
  const subscriptions = useSubscriptions();
  return (
    <>
      <DeliveryStateFilter
        label="Delivery"
        value={filters.delivery_state}
        onChange={(state) => change({ delivery_state: state })}
      />
      {subscriptions.length > 0 ? (
        <Select
          label="Subscription"
          placeholder="All subscriptions"
          clearable
          data={subscriptions.map(({ guid, name }) => ({ value: guid, label: name }))}
          value={filters.subscription ?? null}
          onChange={(subscription) => change({ subscription: subscription ?? undefined })}
        />
      ) : null}
    </>
  );
}
