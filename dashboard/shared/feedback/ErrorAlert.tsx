import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { ApiError } from '../../api/api-error.ts';
import { Icon } from '../text/Icon.tsx';
import { PageLink } from '../text/PageLink.tsx';
import { UNEXPECTED_ERROR } from './notify.ts';

/** Shows the message of the API, and the request id that support needs for server errors. */
export function ErrorAlert({
  error,
  title,
  onRetry,
}: {
  error: unknown;
  title?: string;
  onRetry?: () => void;
}) {
  const apiError = error instanceof ApiError ? error : undefined;
  return (
    <Alert
      color="red"
      variant="light"
      icon={<Icon name="warning" />}
      title={title ?? defaultTitle(apiError, onRetry !== undefined)}
      role="alert"
    >
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{apiError?.message ?? UNEXPECTED_ERROR}</Text>
        {apiError?.requestId === undefined || apiError.status < 500 ? null : (
          <Text size="xs" ff="monospace">
            Request ID:{' '}
            <PageLink to="/requests" search={{ request_id: apiError.requestId }} inherit>
              {apiError.requestId}
            </PageLink>
          </Text>
        )}
        {apiError?.code === 'second_factor_required' ? (
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
              Retry
            </Button>
          </Group>
        ) : null}
      </Stack>
    </Alert>
  );
}

function defaultTitle(apiError: ApiError | undefined, isLoading: boolean): string {
  if (!apiError) return 'This page has an error';
  if (apiError.status === 0) return 'No connection';
  if (apiError.status === 404) return 'Not found';
  if (apiError.status === 403) return 'Not allowed';
  if (isLoading) return 'Could not load the data';
  return apiError.status >= 500 ? 'The service could not complete the request' : 'Request rejected';
}
