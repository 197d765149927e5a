import { Button, CopyButton, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { CreatedApplication } from '../../api/types.ts';
import { CodeBlock } from '../../shared/text/CodeBlock.tsx';
import { Icon } from '../../shared/text/Icon.tsx';
import { type Call, commandOf, firstCall } from './curl.ts';

/** For a key that was generated earlier. */
const DEFAULT_SCOPES = ['customers:read'];
const MASK = '••••••••';

/** The copied command contains the secret; the one on the screen masks it. */
export function CurlStep({ created }: { created: CreatedApplication | undefined }) {
  const { data } = useQuery({
    queryKey: ['token endpoint'],
    queryFn: readTokenEndpoint,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const call = firstCall(created?.scopes ?? DEFAULT_SCOPES);
  const request = {
    endpoint: data ?? `${location.origin}/oauth/token`,
    api: `${location.origin}/api`,
    id: created?.client_id ?? '$CLIENT_ID',
  };
  return (
    <Stack py="sm" maw={760}>
      <Text size="sm">{describeCall(call, created !== undefined)}</Text>
      {call ? (
        <CodeBlock
          label="command"
          code={commandOf(call, { ...request, secret: created ? MASK : '$CLIENT_SECRET' })}
        />
      ) : null}
      <Group>
        {call ? (
          <CopyButton
            value={commandOf(call, { ...request, secret: created?.client_secret ?? '$CLIENT_SECRET' })}
            timeout={1500}
          >
            {({ copied, copy }) => (
              <Button onClick={copy} leftSection={<Icon name={copied ? 'check' : 'copy'} size={16} />}>
                {copied ? 'Copied' : created ? 'Copy with secret' : 'Copy'}
              </Button>
            )}
          </CopyButton>
        ) : null}
        <Button component={Link} to="/overview" variant="default">
          Go to overview
        </Button>
      </Group>
    </Stack>
  );
}

function describeCall(call: Call | undefined, isNew: boolean): string {
  if (!call) return 'The key has no scopes, so it cannot get a token. Add a scope under API keys.';
  if (!isNew)
    return 'Replace $CLIENT_ID and $CLIENT_SECRET with your key pair, which needs customers:read. Run the command from an allowed address.';
  if (call.list === undefined)
    return 'This command gets a token with your new key. The key has no read scope, so there is no list to show.';
  const resource = call.list.replaceAll('_', ' ');
  return `This command gets a token with your new key and lists your ${resource}. Run it from an allowed address.`;
}

/** Authorization server metadata (RFC 8414). */
async function readTokenEndpoint(): Promise<string> {
  const response = await fetch('/.well-known/oauth-authorization-server');
  return ((await response.json()) as { token_endpoint: string }).token_endpoint;
}
