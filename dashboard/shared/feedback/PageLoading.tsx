import { Center, Loader } from '@mantine/core';

export function PageLoading() {
  return (
    <Center mih="40vh">
      <Loader type="dots" aria-label="Loading" role="status" />
    </Center>
  );
}
