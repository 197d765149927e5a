import { Select } from '@mantine/core';
import { useEndpoints } from '../../endpoints/use-endpoints.ts';
import { useFilters } from '../../filters/use-filters.ts';

/** By name, for every role; a deleted subscription of the address is shown by its guid. */
export function SubscriptionFilter() {
  const { filters, change } = useFilters();
  const endpoints = useEndpoints().data?.objects ?? [];
  const options = endpoints.map(({ subscription_guid: value, name: label }) => ({ value, label }));
  const { subscription } = filters;
  const isKnown = subscription === undefined || options.some(({ value }) => value === subscription);
  return (
    <Select
      label="Subscription"
      placeholder="All subscriptions"
      clearable
      data={isKnown ? options : [...options, { value: subscription, label: subscription }]}
      value={subscription ?? null}
      onChange={(chosen) => change({ subscription: chosen ?? undefined })}
    />
  );
}
