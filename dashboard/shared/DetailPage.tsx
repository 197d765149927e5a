import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { type ReactNode, use } from 'react';
import { hasCode } from '../api/problem.ts';
import { useWorkspace } from '../shell/workspace-context.ts';
import { Failure } from './Failure.tsx';
import { KeepContext } from './hold.ts';
import { PageLoading } from './PageLoading.tsx';

/** The page of the one object that the address names. Once that is gone, nothing is left to be done with it. */
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
  const { api } = useWorkspace();
  const { data, error, refetch } = useQuery({
    queryKey: [api.key, path, guid],
    queryFn: ({ signal }) => api.get<Item>(`${path}/${guid}`, { signal }),
    refetchInterval: refreshMs,
  });
  const { isKept } = use(KeepContext);
  // A key that is shown once belongs to the object that comes after this one.
  const isGone = hasCode(error, 'not_found') && !isKept;
  if (!data || isGone)
    return (
      <Stack>
        {back}
        {error ? <Failure error={error} onRetry={() => void refetch()} /> : <PageLoading />}
      </Stack>
    );
  return (
    <Stack gap="lg">
      {back}
      {children(data)}
    </Stack>
  );
}
