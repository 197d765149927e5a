import { TextInput, type TextInputProps } from '@mantine/core';
import { checkUrl } from '../../../../server/webhooks/subscriptions/url.ts';
import type { Environment } from '../../../api/types.ts';
import { useWorkspace } from '../../../session/workspace.ts';

const MAX_URL_CHARACTERS = 1_024;

export function UrlField(props: TextInputProps) {
  const { environment } = useWorkspace();
  return (
    <TextInput
      label="URL"
      description={
        environment === 'production' ? 'Must start with https://' : 'Must start with https:// or http://'
      }
      placeholder="https://api.example.com/portico/events"
      maxLength={MAX_URL_CHARACTERS}
      required
      spellCheck={false}
      {...props}
    />
  );
}

export function urlError(url: string, environment: Environment): string | null {
  const failure = checkUrl(url, environment);
  return failure ? failure.message.replace(/^url /, 'URL ') : null;
}
