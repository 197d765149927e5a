import { Anchor } from '@mantine/core';

/** Within a sentence, so it is underlined: by its colour alone not everybody sees that it is a link. */
export function MailLink({ to }: { to: string }) {
  return (
    <Anchor href={`mailto:${to}`} inherit underline="always">
      {to}
    </Anchor>
  );
}
