import { Alert, type AlertProps } from '@mantine/core';
import { Icon } from '../text/Icon.tsx';

export function StaleAlert({
  what = 'this list',
  radius = 'md',
}: { what?: string } & Pick<AlertProps, 'radius'>) {
  return (
    <Alert
      color="yellow"
      variant="light"
      radius={radius}
      icon={<Icon name="warning" />}
      title={`Could not refresh ${what}. The data may be out of date.`}
    />
  );
}
