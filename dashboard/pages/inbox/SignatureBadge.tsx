import { Badge } from '@mantine/core';
import type { InboxRequestSummary } from '../../api/types.ts';

const SHOWN = {
  valid: { color: 'teal', label: 'Signature valid' },
  invalid: { color: 'red', label: 'Signature invalid' },
  missing: { color: 'yellow', label: 'No signature' },
} as const;

export function SignatureBadge({ signature }: Pick<InboxRequestSummary, 'signature'>) {
  const { color, label } = SHOWN[signature];
  return (
    <Badge color={color} variant="light" tt="none">
      {label}
    </Badge>
  );
}
