import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { type ReactNode, use } from 'react';
import { hasCode } from '../../api/api-error.ts';
import { FreezeContext } from '../../session/freeze.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { ErrorAlert } from '../feedback/ErrorAlert.tsx';
import { PageLoading } from '../feedback/PageLoading.tsx';
import { Elsewhere } from '../lookup/Elsewhere.tsx';

/** Loads the object named in the URL; once it is deleted, only the error remains. It may be in the other environment. */
export function DetailPage<Item>({
  path,
  back,
  refreshMs = false,
  children,
}: {
  path: string;
  back: ReactNode;
  refreshMs?: number | false;
  children: (item: Item) => ReactNode;
}) {
  const { guid } = useParams({ strict: false }) as { guid: string };
  const { api, environment } = useWorkspace();
  const { data, error, refetch } = useQuery({
    queryKey: [api.key, path, guid],
    queryFn: ({ signal }) => api.get<Item>(`${path}/${guid}`, { signal }),
    refetchInterval: refreshMs,
  });
  const { isFrozen } = use(FreezeContext);
  // The signing key of a replacement may be shown here after the old subscription is deleted.
  const isGone = hasCode(error, 'not_found') && !isFrozen;
  if (!data || isGone)
    return (
      <Stack>
        {back}
        {isGone ? (
          <Elsewhere id={guid}>
            <ErrorAlert error={error} title={`Not found in ${environment}`} onRetry={() => void refetch()} />
          </Elsewhere>
        ) : error ? (
          <ErrorAlert error={error} onRetry={() => void refetch()} />
        ) : (
          <PageLoading />
        )}
      </Stack>
    );
  return (
    <Stack gap="lg">
      {back}
      {children(data)}
    </Stack>
  );
}
