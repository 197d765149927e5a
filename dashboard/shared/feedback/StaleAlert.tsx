import { Alert, type AlertProps } from '@mantine/core';
import { Icon } from '../text/Icon.tsx';

/** What is shown was fetched before, and the refresh since then failed; `what` where more than one thing is shown. */
export function StaleAlert({ what, radius = 'md' }: { what?: string } & Pick<AlertProps, 'radius'>) {
  return (
    <Alert
      color="yellow"
      variant="light"
      radius={radius}
      icon={<Icon name="warning" />}
      title={`${what === undefined ? 'Could' : `${what} could`} not be refreshed; this may be out of date`}
    />
  );
}
