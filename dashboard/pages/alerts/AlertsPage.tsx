import { Badge, Button, Group, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { ALERT_KINDS, ALERT_TYPES } from '../../../server/alerts/kinds.ts';
import type { Alert } from '../../api/types.ts';
import { SeverityIcon } from '../../shared/alerts/SeverityIcon.tsx';
import { useAlertLink } from '../../shared/alerts/use-alert-link.ts';
import { useUnreadAlerts } from '../../shared/alerts/use-unread-alerts.ts';
import { EmptyState } from '../../shared/feedback/EmptyState.tsx';
import { FilterBar } from '../../shared/filters/FilterBar.tsx';
import { SelectFilter } from '../../shared/filters/SelectFilter.tsx';
import { TimeFilter } from '../../shared/filters/TimeFilter.tsx';
import { TIME_FILTERS, timeRangeOf } from '../../shared/filters/time-range.ts';
import { useFilters } from '../../shared/filters/use-filters.ts';
import { PageHeader } from '../../shared/page/PageHeader.tsx';
import { Panel } from '../../shared/page/Panel.tsx';
import { type Column, DataTable } from '../../shared/table/DataTable.tsx';
import { useList } from '../../shared/table/use-list.ts';
import { EnvironmentName } from '../../shared/text/EnvironmentName.tsx';
import { Icon } from '../../shared/text/Icon.tsx';
import { PageLink } from '../../shared/text/PageLink.tsx';
import { RelativeTime } from '../../shared/time/RelativeTime.tsx';

const REFRESH_MS = 30_000;
const TYPES = ALERT_TYPES.map((type) => ({ value: type, label: ALERT_KINDS[type].label }));
const ENVIRONMENTS = [
  { value: 'production', label: 'Production' },
  { value: 'sandbox', label: 'Sandbox' },
];

const FILTERS = ['type', 'environment', ...TIME_FILTERS] as const;

export function AlertsPage() {
  const { filters, field } = useFilters();
  const { from, until } = timeRangeOf(filters);
  const { unread, isUnread, markRead } = useUnreadAlerts();
  const isFiltered = FILTERS.some((name) => name in filters);
  const result = useList<Alert>(
    '/alerts',
    {
      type: filters.type,
      environment: filters.environment,
      created_at_gte: from,
      created_at_lt: until,
      after: filters.after,
    },
    { refetchInterval: REFRESH_MS },
  );
  // Without filters the first row is the newest alert that the member can see.
  const newest = isFiltered || filters.after ? undefined : result.data?.objects[0]?.guid;
  return (
    <>
      <PageHeader
        title="Alerts"
        guide="alerts"
        actions={
          <>
            {unread > 0 && newest !== undefined ? (
              <Button variant="default" loading={markRead.isPending} onClick={() => markRead.mutate(newest)}>
                Mark all read
              </Button>
            ) : null}
            <Button
              component={Link}
              to="/alerts/settings"
              variant="default"
              leftSection={<Icon name="settings" size={16} />}
            >
              Settings
            </Button>
          </>
        }
      >
        Problems and changes of access, in both environments. Choose your emails in{' '}
        <PageLink to="/account" inherit underline="always">
          your account
        </PageLink>
        .
      </PageHeader>
      <FilterBar names={FILTERS}>
        <SelectFilter label="Type" placeholder="All types" searchable data={TYPES} {...field('type')} />
        <SelectFilter label="Environment" placeholder="Both" data={ENVIRONMENTS} {...field('environment')} />
        <TimeFilter />
      </FilterBar>
      <Panel flush>
        <DataTable
          result={result}
          label="Alerts"
          keyOf={({ guid }) => guid}
          columns={columnsOf(isUnread)}
          empty={
            <EmptyState icon="bell" title={isFiltered ? 'No alerts match these filters' : 'No alerts'}>
              {isFiltered
                ? 'Extend the time range or clear a filter.'
                : 'Failing endpoints, changes to keys and team, denied calls and infected uploads appear here.'}
            </EmptyState>
          }
        />
      </Panel>
    </>
  );
}

function columnsOf(isUnread: (guid: string) => boolean): Column<Alert>[] {
  return [
    {
      title: 'Alert',
      width: '60%',
      cell: (alert) => (
        <Group gap="sm" wrap="nowrap" align="flex-start">
          <SeverityIcon severity={alert.severity} />
          <Stack gap={2} style={{ minWidth: 0 }}>
            <Text size="sm" fw={550} component="div" style={{ overflowWrap: 'anywhere' }}>
              {alert.title}
              {isUnread(alert.guid) ? (
                <Badge size="sm" variant="light" radius="sm" tt="none" ml="xs">
                  New
                </Badge>
              ) : null}
            </Text>
            <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
              {alert.message}
            </Text>
          </Stack>
        </Group>
      ),
    },
    { title: 'Environment', cell: ({ environment }) => <EnvironmentName environment={environment} /> },
    { title: 'Time', cell: ({ created_at: at }) => <RelativeTime at={at} /> },
    { title: 'Cause', titleHidden: true, align: 'right', cell: (alert) => <CauseLink alert={alert} /> },
  ];
}

function CauseLink({ alert }: { alert: Alert }) {
  const link = useAlertLink()(alert);
  return link ? (
    <PageLink to={link.to} search={link.search} size="sm" style={{ whiteSpace: 'nowrap' }}>
      {link.label}
    </PageLink>
  ) : null;
}
