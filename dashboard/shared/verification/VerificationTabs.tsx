import { Anchor, Group, Stack, Tabs, Text } from '@mantine/core';
import { useState } from 'react';
import { CodeBlock } from '../text/CodeBlock.tsx';
import { withSigningKey } from './signing-key-lines.ts';

/** The guides remember the language under the same name. */
const LANGUAGE = 'portico.guide-language';
const PLACEHOLDER = 'YOUR_SIGNING_KEY';

/** Code that verifies a webhook, by language, with the signing key or a placeholder. */
export function VerificationTabs({ signingKey = PLACEHOLDER }: { signingKey?: string | undefined }) {
  const [language, setLanguage] = useState(readLanguage);
  const snippet = __VERIFICATION_SNIPPETS__.find((each) => each.language === language);
  return (
    <Tabs
      value={language}
      onChange={(chosen) => {
        if (chosen === null) return;
        localStorage.setItem(LANGUAGE, chosen);
        setLanguage(chosen);
      }}
    >
      <Tabs.List aria-label="Language">
        {__VERIFICATION_SNIPPETS__.map(({ language: name }) => (
          <Tabs.Tab key={name} value={name} px="sm">
            {name}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {__VERIFICATION_SNIPPETS__.map(({ language: name }) => (
        <Tabs.Panel key={name} value={name} pt="sm">
          {snippet?.language === name ? (
            <Stack gap={6}>
              <CodeBlock source label="verification code" code={withSigningKey(snippet, signingKey)} />
              <Group justify="space-between" gap="xs">
                <Text size="xs" c="dimmed">
                  {signingKey === PLACEHOLDER
                    ? 'Replace the placeholder with the signing key of your subscription.'
                    : 'The code contains your signing key: keep it secret.'}
                </Text>
                <Anchor href={`/guides/${snippet.path}`} target="_blank" size="xs">
                  Complete server
                </Anchor>
              </Group>
            </Stack>
          ) : null}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

function readLanguage(): string {
  const names = __VERIFICATION_SNIPPETS__.map(({ language }) => language);
  return names.find((name) => name === localStorage.getItem(LANGUAGE)) ?? names[0] ?? '';
}
