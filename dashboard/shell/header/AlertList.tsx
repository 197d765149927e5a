import { Button, Group, ScrollArea, Skeleton, Stack, Text } from '@mantine/core';
import type { Alert } from '../../api/types.ts';
import { SeverityIcon } from '../../shared/alerts/SeverityIcon.tsx';
import { useAlertLink } from '../../shared/alerts/use-alert-link.ts';
import { useUnreadAlerts } from '../../shared/alerts/use-unread-alerts.ts';
import { ErrorAlert } from '../../shared/feedback/ErrorAlert.tsx';
import { useList } from '../../shared/table/use-list.ts';
import { PageLink } from '../../shared/text/PageLink.tsx';
import { RelativeTime } from '../../shared/time/RelativeTime.tsx';
import styles from './AlertList.module.css';

const SHOWN = 8;

/** The newest alerts, in the popover of the bell. */
export function AlertList() {
  const { data, error, refetch } = useList<Alert>('/alerts', { per_page: SHOWN });
  const { unread, isUnread, markRead } = useUnreadAlerts();
  const newest = data?.objects[0]?.guid;
  return (
    <>
      <Group justify="space-between" px="md" py="xs" className={styles.head}>
        <Text fw={650} component="h2" fz="md">
          Alerts
        </Text>
        <Button
          variant="subtle"
          size="compact-sm"
          disabled={unread === 0 || newest === undefined}
          loading={markRead.isPending}
          onClick={() => newest && markRead.mutate(newest)}
        >
          Mark all read
        </Button>
      </Group>
      <ScrollArea.Autosize mah="min(26rem, 60vh)" type="auto">
        {error && !data ? <ErrorAlert error={error} onRetry={() => void refetch()} /> : null}
        {!data && !error ? <Skeleton height={120} m="md" width="auto" /> : null}
        {data?.objects.length === 0 ? (
          <Text size="sm" c="dimmed" p="md">
            No alerts. Failing endpoints, changes to keys and denied calls appear here.
          </Text>
        ) : null}
        <ul className={styles.list}>
          {data?.objects.map((alert) => (
            <AlertItem key={alert.guid} alert={alert} isUnread={isUnread(alert.guid)} />
          ))}
        </ul>
      </ScrollArea.Autosize>
      <Group px="md" py="xs" className={styles.foot}>
        <PageLink to="/alerts" size="sm">
          View all alerts
        </PageLink>
      </Group>
    </>
  );
}

function AlertItem({ alert, isUnread }: { alert: Alert; isUnread: boolean }) {
  const link = useAlertLink()(alert);
  return (
    <li className={styles.item} data-unread={isUnread || undefined}>
      <SeverityIcon severity={alert.severity} />
      <Stack gap={2} style={{ minWidth: 0 }}>
        <Text size="sm" fw={isUnread ? 650 : 450} style={{ overflowWrap: 'anywhere' }}>
          {alert.title}
        </Text>
        <Group gap="xs" fz="xs" c="dimmed">
          <RelativeTime at={alert.created_at} />
          {alert.environment ? <span>{alert.environment}</span> : null}
          {isUnread ? <span>unread</span> : null}
          {link ? (
            <PageLink to={link.to} search={link.search} fz="xs">
              {link.label}
            </PageLink>
          ) : null}
        </Group>
      </Stack>
    </li>
  );
}
