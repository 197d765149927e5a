import { Button, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Application, CreatedApplication } from '../../api/types.ts';
import { useSetup } from '../../session/use-setup.ts';
import { CodeBlock } from '../../shared/text/CodeBlock.tsx';
import { StateBadge } from '../../shared/text/StateBadge.tsx';
import { RelativeTime } from '../../shared/time/RelativeTime.tsx';
import { type Call, commandOf, firstCall } from './curl.ts';

/** For a key that was generated earlier. */
const DEFAULT_SCOPES = ['customers:read'];
const MASK = '••••••••';
const SECRET_VARIABLE = '$CLIENT_SECRET';
const POLL_MS = 3_000;

/** The copied command contains the secret; the one on the screen masks it. */
export function CurlStep({
  created,
  existing,
}: {
  created: CreatedApplication | undefined;
  existing: Application | undefined;
}) {
  const { data: tokenUrl } = useQuery({
    queryKey: ['token endpoint'],
    queryFn: readTokenEndpoint,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const key = created ?? existing;
  const call = firstCall(key?.scopes ?? DEFAULT_SCOPES);
  const request = {
    endpoint: tokenUrl ?? `${location.origin}/oauth/token`,
    api: `${location.origin}/api`,
    id: key?.client_id ?? '$CLIENT_ID',
  };
  const secret = created?.client_secret ?? SECRET_VARIABLE;
  return (
    <Stack py="sm" maw={760}>
      <Text size="sm">{describeCall(call, created ? undefined : (existing?.name ?? 'your key'))}</Text>
      {call ? (
        <CodeBlock
          label="command"
          code={commandOf(call, { ...request, secret: created ? MASK : SECRET_VARIABLE })}
          copied={commandOf(call, { ...request, secret })}
        />
      ) : null}
      <FirstCall />
      <Group>
        <Button component={Link} to="/overview">
          Go to overview
        </Button>
      </Group>
    </Stack>
  );
}

function FirstCall() {
  const { data } = useSetup({ enabled: true, refetchInterval: POLL_MS });
  const used = data?.usedKey;
  return (
    <Group gap="xs" role="status">
      {used ? (
        <>
          <StateBadge state="completed" label="First call received" />
          <Text size="sm" component="div">
            {used.name}
            {used.last_used_ip ? ` from ${used.last_used_ip}` : ''}, <RelativeTime at={used.last_used_at} />
          </Text>
        </>
      ) : (
        <StateBadge state="waiting" label="Waiting for the first call" />
      )}
    </Group>
  );
}

/** `existing` is the name of a key whose secret was shown earlier. */
function describeCall(call: Call | undefined, existing: string | undefined): string {
  if (!call) return 'The key has no scopes, so it cannot get a token. Add a scope under API keys.';
  if (existing !== undefined)
    return `Set the variable CLIENT_SECRET to the secret of ${existing}, then run the command from an allowed address.`;
  if (call.list === undefined)
    return 'This command gets a token with your new key. The key has no read scope, so there is no list to show. The copied command contains the secret.';
  const resource = call.list.replaceAll('_', ' ');
  return `This command gets a token with your new key and lists your ${resource}. Run it from an allowed address. The copied command contains the secret.`;
}

/** Authorization server metadata (RFC 8414). */
async function readTokenEndpoint(): Promise<string> {
  const response = await fetch('/.well-known/oauth-authorization-server');
  return ((await response.json()) as { token_endpoint: string }).token_endpoint;
}
