import { Alert, type AlertProps } from '@mantine/core';
import { Icon } from './Icon.tsx';

/** What is shown was fetched before, and the refresh since then failed. */
export function OutOfDate({ radius = 'md' }: Pick<AlertProps, 'radius'>) {
  return (
    <Alert
      color="yellow"
      variant="light"
      radius={radius}
      icon={<Icon name="warning" />}
      title="Could not be refreshed; this may be out of date"
    />
  );
}
