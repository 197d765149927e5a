import { Center, Paper, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { ColorSchemeToggle } from '../../shell/header/ColorSchemeToggle.tsx';
import { Mark } from '../../shell/header/Logo.tsx';
import styles from './LoginLayout.module.css';

/** Layout of the pages that need no login. */
export function LoginLayout({
  title,
  subtitle,
  children,
}: {
  title: string;
  subtitle?: string;
  children: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · Portico`;
  }, [title]);
  return (
    <main className={styles.page}>
      <div className={styles.corner}>
        <ColorSchemeToggle />
      </div>
      <Stack w="100%" maw={400} gap="lg">
        <Stack align="center" gap="sm">
          <Mark size={44} />
          <Title order={1} ta="center">
            {title}
          </Title>
          {subtitle ? (
            <Text c="dimmed" size="sm" ta="center">
              {subtitle}
            </Text>
          ) : null}
        </Stack>
        <Paper className={styles.card} radius="lg">
          {children}
        </Paper>
        <Center>
          <Text size="xs" c="dimmed">
            Portico · keys, tokens and webhooks
          </Text>
        </Center>
      </Stack>
    </main>
  );
}
