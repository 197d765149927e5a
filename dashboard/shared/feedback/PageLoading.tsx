import { Skeleton, Stack } from '@mantine/core';

export function PageLoading() {
  return (
    <Stack gap="lg" role="status" aria-label="Loading">
      <Skeleton height={34} width="min(240px, 60%)" />
      <Skeleton height={14} width="min(420px, 90%)" />
      <Skeleton height={280} radius="lg" />
    </Stack>
  );
}
