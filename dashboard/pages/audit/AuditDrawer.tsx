import { Button, Drawer, Group, Stack, Text } from '@mantine/core';
import type { AuditEntry } from '../../api/types.ts';
import { useFilters } from '../../shared/filters/use-filters.ts';
import { useReturnFocus } from '../../shared/forms/use-return-focus.ts';
import { LabeledValue } from '../../shared/page/LabeledValue.tsx';
import { Guid } from '../../shared/text/Guid.tsx';
import { PageLink } from '../../shared/text/PageLink.tsx';
import { formatExactTime } from '../../shared/time/format-time.ts';
import { ChangeTable } from './ChangeTable.tsx';
import { actorLabel, actorTypeLabel, objectLabel } from './labels.ts';

export function AuditDrawer({ entry, onClose }: { entry: AuditEntry; onClose: () => void }) {
  useReturnFocus();
  const { change } = useFilters();
  const show = (filters: { actor?: string; object?: string }) => {
    onClose();
    change({ group: undefined, action: undefined, actor: undefined, object: undefined, ...filters });
  };
  const { actor, actor_email: email, object_id: objectId, object_name: objectName } = entry;
  return (
    <Drawer opened onClose={onClose} position="right" size="lg" title="Audit entry">
      <Stack>
        <Text ff="monospace" size="sm" fw={600}>
          {entry.action}
        </Text>
        <LabeledValue label="Time">
          <time dateTime={entry.created_at}>{formatExactTime(entry.created_at)}</time>
        </LabeledValue>
        <LabeledValue label={`Actor (${actorTypeLabel(entry)})`}>
          <Text size="sm">{actorLabel(entry) ?? actor}</Text>
          {email && entry.actor_name ? (
            <Text size="xs" c="dimmed">
              {email}
            </Text>
          ) : null}
          {actor === entry.actor_type || actor === 'portico' ? null : (
            <Guid full value={actor} name="actor ID" />
          )}
        </LabeledValue>
        <LabeledValue label={`Object (${objectLabel(entry)})`}>
          {objectName ? <Text size="sm">{objectName}</Text> : null}
          <Guid full value={objectId} name="object ID" />
        </LabeledValue>
        <Group gap="xl">
          {entry.address ? <LabeledValue label="Address">{entry.address}</LabeledValue> : null}
          {entry.request_id ? (
            <LabeledValue label="Request ID">
              <Guid full value={entry.request_id} name="request ID" />
              <PageLink to="/requests" search={{ request_id: entry.request_id }} size="sm">
                View request
              </PageLink>
            </LabeledValue>
          ) : null}
        </Group>
        <ChangeTable entry={entry} />
        <Group gap="xs">
          <Button variant="default" size="xs" onClick={() => show({ actor })}>
            All entries of this actor
          </Button>
          <Button variant="default" size="xs" onClick={() => show({ object: objectId })}>
            All entries of this object
          </Button>
        </Group>
      </Stack>
    </Drawer>
  );
}
