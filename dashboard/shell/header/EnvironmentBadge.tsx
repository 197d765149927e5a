import { Badge } from '@mantine/core';
import type { Environment } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';

const LOOKS: Record<Environment, { color: string; variant: string; label: string }> = {
  sandbox: { color: 'yellow', variant: 'light', label: 'Sandbox' },
  production: { color: 'red', variant: 'filled', label: 'Production' },
};

/** Always in sight: nobody should mistake one for the other. */
export function EnvironmentBadge() {
  const { environment } = useWorkspace();
  const { color, variant, label } = LOOKS[environment];
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
