import { Badge, Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { accountApi } from '../../api/account.ts';
import { ErrorAlert } from '../../shared/feedback/ErrorAlert.tsx';
import { notifyFailure } from '../../shared/feedback/notify.ts';
import { Panel } from '../../shared/page/Panel.tsx';
import { RelativeTime } from '../../shared/time/RelativeTime.tsx';

export const ACCOUNT_SESSIONS_KEY = ['account', 'sessions'] as const;

export function SessionsPanel() {
  const queries = useQueryClient();
  const { data, error, refetch } = useQuery({ queryKey: ACCOUNT_SESSIONS_KEY, queryFn: accountApi.sessions });
  const end = useMutation({
    mutationFn: accountApi.endSession,
    onSuccess: () => queries.invalidateQueries({ queryKey: ACCOUNT_SESSIONS_KEY }),
    onError: notifyFailure('Could not end the session'),
  });
  return (
    <Panel
      title="Sessions"
      hint="If you see a session that you do not recognize, end it and change your password"
    >
      <Stack gap="sm">
        {error ? <ErrorAlert error={error} onRetry={() => void refetch()} /> : null}
        {!data && !error ? <Skeleton height={36} /> : null}
        {data?.objects.map(({ guid, address, user_agent: agent = '', last_seen_at: seen, current }) => (
          <Group key={guid} justify="space-between" wrap="nowrap">
            <div>
              <Group gap="xs">
                <Text size="sm" fw={600}>
                  {nameOf(agent)}
                </Text>
                {current ? (
                  <Badge variant="light" color="teal" size="sm" tt="none" radius="sm">
                    This session
                  </Badge>
                ) : null}
              </Group>
              <Text size="xs" c="dimmed" component="div">
                {address ? `${address} · ` : null}
                <RelativeTime at={seen} />
              </Text>
            </div>
            {current ? null : (
              <Button
                variant="subtle"
                color="red"
                size="compact-sm"
                onClick={() => end.mutate(guid)}
                aria-label={`End session: ${nameOf(agent)}${address ? ` at ${address}` : ''}`}
              >
                End session
              </Button>
            )}
          </Group>
        ))}
      </Stack>
    </Panel>
  );
}

const BROWSERS = ['Firefox', 'Edg', 'Chrome', 'Safari'];
const SYSTEMS = ['iPhone', 'iPad', 'Android', 'Windows', 'Mac OS', 'Linux'];

function nameOf(agent: string): string {
  const browser = BROWSERS.find((name) => agent.includes(name))?.replace('Edg', 'Edge') ?? 'Unknown client';
  const system = SYSTEMS.find((name) => agent.includes(name))?.replace('Mac OS', 'macOS');
  return system === undefined ? browser : `${browser} on ${system}`;
}
