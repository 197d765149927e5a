import { ThemeIcon } from '@mantine/core';
import type { Alert } from '../../api/types.ts';
import { Icon } from '../text/Icon.tsx';

const STYLES = {
  critical: { color: 'red', icon: 'warning', label: 'Critical' },
  warning: { color: 'orange', icon: 'warning', label: 'Warning' },
  info: { color: 'blue', icon: 'info', label: 'Information' },
} as const;

export function SeverityIcon({ severity }: { severity: Alert['severity'] }) {
  const { color, icon, label } = STYLES[severity];
  return (
    <ThemeIcon variant="light" color={color} size={28} radius="xl" role="img" aria-label={label}>
      <Icon name={icon} size={15} />
    </ThemeIcon>
  );
}
