import { Button, CopyButton, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { CreatedApplication } from '../../api/types.ts';
import { CodeBlock } from '../../shared/text/CodeBlock.tsx';
import { Icon } from '../../shared/text/Icon.tsx';
import { type Call, commandOf, firstCall } from './curl.ts';

/** For a key that was made elsewhere. */
const USUAL_SCOPES = ['customers:read'];
const COVERED = '••••••••';

/** A call that works as it is pasted; on the screen the secret stays covered. */
export function CurlStep({ created }: { created: CreatedApplication | undefined }) {
  const { data } = useQuery({
    queryKey: ['token endpoint'],
    queryFn: readTokenEndpoint,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const call = firstCall(created?.scopes ?? USUAL_SCOPES);
  const place = {
    endpoint: data ?? `${location.origin}/oauth/token`,
    api: `${location.origin}/api`,
    id: created?.client_id ?? '$CLIENT_ID',
  };
  return (
    <Stack py="sm" maw={760}>
      <Text size="sm">{meaningOf(call, created !== undefined)}</Text>
      {call ? (
        <CodeBlock
          label="command"
          code={commandOf(call, { ...place, secret: created ? COVERED : '$CLIENT_SECRET' })}
        />
      ) : null}
      <Group>
        {call ? (
          <CopyButton
            value={commandOf(call, { ...place, secret: created?.client_secret ?? '$CLIENT_SECRET' })}
            timeout={1500}
          >
            {({ copied, copy }) => (
              <Button onClick={copy} leftSection={<Icon name={copied ? 'check' : 'copy'} size={16} />}>
                {copied ? 'Copied' : created ? 'Copy with the secret' : 'Copy'}
              </Button>
            )}
          </CopyButton>
        ) : null}
        <Button component={Link} to="/overview" variant="default">
          To the overview
        </Button>
      </Group>
    </Stack>
  );
}

function meaningOf(call: Call | undefined, isNew: boolean): string {
  if (!call) return 'The key has no scope, so it gets no token. Give it one under API keys, by Edit.';
  if (!isNew)
    return 'Put your key in place of the two names; it needs customers:read. Run it from an allowed address.';
  if (call.list === undefined)
    return 'Gets a token with your new key. The key reads nothing, so there is no call to try with it.';
  const what = call.list.replaceAll('_', ' ');
  return `Gets a token with your new key and lists the ${what} that it sees. Run it from an allowed address.`;
}

/** Where this environment's tokens are issued (RFC 8414). */
async function readTokenEndpoint(): Promise<string> {
  const response = await fetch('/.well-known/oauth-authorization-server');
  return ((await response.json()) as { token_endpoint: string }).token_endpoint;
}
