import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { ApiError } from '../../api/api-error.ts';
import { PageLink } from '../page/PageLink.tsx';
import { Icon } from '../text/Icon.tsx';

/** Why something did not work, in the service's own words, with what support needs to find it. */
export function ErrorAlert({
  error,
  title,
  onRetry,
}: {
  error: unknown;
  /** Where more than one thing may fail: which of them it is. */
  title?: string;
  onRetry?: () => void;
}) {
  const problem = error instanceof ApiError ? error : undefined;
  return (
    <Alert
      color="red"
      variant="light"
      icon={<Icon name="warning" />}
      title={title ?? titleOf(problem)}
      role="alert"
    >
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{problem?.message ?? 'Something unexpected happened in this page.'}</Text>
        {problem?.requestId === undefined || problem.status < 500 ? null : (
          <Text size="xs" ff="monospace">
            request {problem.requestId}
          </Text>
        )}
        {problem?.code === 'second_factor_required' ? (
          <PageLink to="/account" size="sm">
            Set up a second factor
          </PageLink>
        ) : null}
        {onRetry ? (
          <Group>
            <Button
              size="xs"
              variant="default"
              onClick={onRetry}
              leftSection={<Icon name="refresh" size={14} />}
            >
              Try again
            </Button>
          </Group>
        ) : null}
      </Stack>
    </Alert>
  );
}

function titleOf(problem: ApiError | undefined): string {
  if (!problem || problem.status >= 500) return 'That did not work';
  if (problem.status === 0) return 'No connection';
  if (problem.status === 404) return 'Not found';
  return problem.status === 403 ? 'Not allowed' : 'That was refused';
}
