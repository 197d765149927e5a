import { Badge, Group, List, Skeleton, Text, ThemeIcon } from '@mantine/core';
import { useWorkspace } from '../../session/workspace.ts';
import { ErrorAlert } from '../../shared/feedback/ErrorAlert.tsx';
import { Panel } from '../../shared/page/Panel.tsx';
import { GuideLink } from '../../shared/text/GuideLink.tsx';
import { Icon } from '../../shared/text/Icon.tsx';
import { MailLink } from '../../shared/text/MailLink.tsx';
import { PageLink } from '../../shared/text/PageLink.tsx';
import { type Step, useGoingLive } from './use-going-live.ts';

const PAGE_LABELS: Record<NonNullable<Step['page']>, string> = {
  '/keys': 'Open API keys',
  '/subscriptions': 'Open subscriptions',
  '/team': 'Open team',
  '/alerts/settings': 'Open alert settings',
};

export function GoingLivePanel() {
  const { session } = useWorkspace();
  const { data, error, refetch } = useGoingLive();
  const done = data?.filter(({ isDone }) => isDone).length ?? 0;
  return (
    <Panel
      title="Going live"
      hint={
        <>
          Complete all steps but the last, then write to <MailLink to={session.support_email} />.{' '}
          <GuideLink guide="going-live" inherit underline="always" />
        </>
      }
      actions={
        data ? (
          <Badge variant="light" radius="sm" tt="none" color={done === data.length ? 'teal' : 'blue'}>
            {done} of {data.length} done
          </Badge>
        ) : undefined
      }
    >
      {error ? <ErrorAlert error={error} onRetry={() => void refetch()} /> : null}
      {!data && !error ? <Skeleton height={220} /> : null}
      {data ? (
        <List spacing="sm" center={false} listStyleType="none" aria-label="Steps to production">
          {data.map((step) => (
            <StepItem key={step.title} step={step} />
          ))}
        </List>
      ) : null}
    </Panel>
  );
}

function StepItem({ step: { title, detail, isDone, page } }: { step: Step }) {
  return (
    <List.Item
      icon={
        <ThemeIcon size={22} radius="xl" variant={isDone ? 'filled' : 'default'} color="teal">
          {isDone ? <Icon name="check" size={14} /> : null}
        </ThemeIcon>
      }
    >
      <Group gap={6}>
        <Text size="sm" fw={600}>
          {title}
        </Text>
        <Text size="xs" c="dimmed">
          {isDone ? 'Done' : 'To do'}
        </Text>
      </Group>
      <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        {detail}{' '}
        {page && !isDone ? (
          <PageLink to={page} size="sm" underline="always">
            {PAGE_LABELS[page]}
          </PageLink>
        ) : null}
      </Text>
    </List.Item>
  );
}
