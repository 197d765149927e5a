import { Badge, Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { people } from '../../api/people.ts';
import { Failure } from '../../shared/Failure.tsx';
import { Moment } from '../../shared/Moment.tsx';
import { tellProblem } from '../../shared/notify.ts';
import { Panel } from '../../shared/Panel.tsx';

export const ACCOUNT_SESSIONS_KEY = ['account', 'sessions'] as const;

/** Where one is logged in. */
export function SessionsPanel() {
  const queries = useQueryClient();
  const { data, error, refetch } = useQuery({ queryKey: ACCOUNT_SESSIONS_KEY, queryFn: people.sessions });
  const end = useMutation({
    mutationFn: people.endSession,
    onSuccess: () => queries.invalidateQueries({ queryKey: ACCOUNT_SESSIONS_KEY }),
    onError: tellProblem,
  });
  return (
    <Panel title="Sessions" hint="End those that you do not know, and change the password">
      <Stack gap="sm">
        {error ? <Failure error={error} onRetry={() => void refetch()} /> : null}
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
                    This one
                  </Badge>
                ) : null}
              </Group>
              <Text size="xs" c="dimmed" component="div">
                {address ? `${address} · ` : null}
                <Moment at={seen} />
              </Text>
            </div>
            {current ? null : (
              <Button
                variant="subtle"
                color="red"
                size="compact-sm"
                onClick={() => end.mutate(guid)}
                aria-label={`End the session of ${nameOf(agent)}${address ? ` at ${address}` : ''}`}
              >
                End
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

/** Enough to know it again; the whole of it says more to machines than to people. */
function nameOf(agent: string): string {
  const browser = BROWSERS.find((name) => agent.includes(name))?.replace('Edg', 'Edge') ?? 'A program';
  const system = SYSTEMS.find((name) => agent.includes(name))?.replace('Mac OS', 'macOS');
  return system === undefined ? browser : `${browser} on ${system}`;
}
