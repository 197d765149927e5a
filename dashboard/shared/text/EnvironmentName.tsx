import { Badge } from '@mantine/core';
import type { Environment } from '../../api/types.ts';

const STYLES = {
  sandbox: { color: 'yellow', label: 'Sandbox' },
  production: { color: 'red', label: 'Production' },
  both: { color: 'gray', label: 'Both' },
} as const;

/** Without an environment: both. */
export function EnvironmentName({
  environment = 'both',
}: {
  environment?: Environment | 'both' | undefined;
}) {
  const { color, label } = STYLES[environment];
  return (
    <Badge variant="light" radius="sm" tt="none" color={color} miw="max-content">
      {label}
    </Badge>
  );
}
