import { Badge } from '@mantine/core';
import type { Environment } from '../../api/types.ts';

export function EnvironmentName({ environment }: { environment: Environment }) {
  const isSandbox = environment === 'sandbox';
  return (
    <Badge variant="light" radius="sm" tt="none" color={isSandbox ? 'yellow' : 'red'}>
      {isSandbox ? 'Sandbox' : 'Production'}
    </Badge>
  );
}
