import { Text } from '@mantine/core';
import type { AuditEntry } from '../../api/types.ts';
import { NoValue } from '../../shared/text/NoValue.tsx';
import { type Difference, differencesOf } from './differences.ts';

/** The changed fields in one line; the drawer has all of them. */
export function Changes({ entry }: { entry: AuditEntry }) {
  const text = differencesOf(entry).map(summaryOf).join(' · ');
  if (text === '') return <NoValue />;
  return (
    <Text size="sm" lineClamp={1} miw={140} maw={420} title={text} style={{ wordBreak: 'break-all' }}>
      {text}
    </Text>
  );
}

function summaryOf({ field, before, after, list }: Difference): string {
  if (list) {
    const parts = [...list.added.map((entry) => `+${entry}`), ...list.removed.map((entry) => `−${entry}`)];
    return `${field}: ${parts.join(', ') || 'order'}`;
  }
  return before === undefined ? `${field}: ${after ?? '–'}` : `${field}: ${before} → ${after ?? '–'}`;
}
