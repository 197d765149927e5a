import { Alert } from '@mantine/core';
import { useNetwork } from '@mantine/hooks';
import { Icon } from '../shared/text/Icon.tsx';

export function OfflineAlert() {
  const { online } = useNetwork();
  if (online) return null;
  return (
    <Alert
      color="yellow"
      variant="light"
      mb="md"
      icon={<Icon name="warning" />}
      title="You are offline. The data may be out of date."
      role="status"
    />
  );
}
