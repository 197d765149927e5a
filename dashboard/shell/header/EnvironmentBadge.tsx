import { Badge } from '@mantine/core';
import type { Environment } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';

const STYLES: Record<Environment, { color: string; variant: string; label: string }> = {
  sandbox: { color: 'yellow', variant: 'light', label: 'Sandbox' },
  production: { color: 'red', variant: 'filled', label: 'Production' },
};

export function EnvironmentBadge() {
  const { environment } = useWorkspace();
  const { color, variant, label } = STYLES[environment];
  return (
    <Badge
      color={color}
      variant={variant}
      radius="sm"
      tt="none"
      fw={650}
      aria-label={`Environment: ${label}`}
      role="status"
      data-environment={environment}
      style={{ flexShrink: 0 }}
    >
      {label}
    </Badge>
  );
}
