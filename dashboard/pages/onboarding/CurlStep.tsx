import { Button, CopyButton, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { CreatedApplication } from '../../api/types.ts';
import { CodeBlock } from '../../shared/CodeBlock.tsx';
import { Icon } from '../../shared/Icon.tsx';

/** A call that works as it is pasted; on the screen the secret stays covered. */
export function CurlStep({ created }: { created: CreatedApplication | undefined }) {
  const { data } = useQuery({
    queryKey: ['token endpoint'],
    queryFn: readTokenEndpoint,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const endpoint = data ?? `${location.origin}/oauth/token`;
  const id = created?.client_id ?? '$CLIENT_ID';
  const scope = created?.scopes.includes('customers:read') === false ? created.scopes[0] : 'customers:read';
  const commandWith = (secret: string) =>
    [
      `TOKEN=$(curl -s ${endpoint} -u '${id}:${secret}' \\`,
      `  -d grant_type=client_credentials -d scope=${scope} | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')`,
      `curl -s ${location.origin}/api/customers -H "Authorization: Bearer $TOKEN"`,
    ].join('\n');
  return (
    <Stack py="sm" maw={760}>
      <Text size="sm">
        {created
          ? 'Gets a token with your new key and lists the customers of the bank. Run it from an allowed address.'
          : 'Put your key in place of the two names. Run it from an allowed address.'}
      </Text>
      <CodeBlock label="command" code={commandWith(created ? '••••••••' : '$CLIENT_SECRET')} />
      <Group>
        <CopyButton value={commandWith(created?.client_secret ?? '$CLIENT_SECRET')} timeout={1500}>
          {({ copied, copy }) => (
            <Button onClick={copy} leftSection={<Icon name={copied ? 'check' : 'copy'} size={16} />}>
              {copied ? 'Copied' : created ? 'Copy with the secret' : 'Copy'}
            </Button>
          )}
        </CopyButton>
        <Button component={Link} to="/overview" variant="default">
          To the overview
        </Button>
      </Group>
    </Stack>
  );
}

/** Where this environment's tokens are issued (RFC 8414). */
async function readTokenEndpoint(): Promise<string> {
  const response = await fetch('/.well-known/oauth-authorization-server');
  return ((await response.json()) as { token_endpoint: string }).token_endpoint;
}
