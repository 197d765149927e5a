import { Anchor } from '@mantine/core';

/** Underlined, because links within text must not be marked by colour alone (WCAG 2.1, 1.4.1). */
export function MailLink({ to }: { to: string }) {
  return (
    <Anchor href={`mailto:${to}`} inherit underline="always">
      {to}
    </Anchor>
  );
}
