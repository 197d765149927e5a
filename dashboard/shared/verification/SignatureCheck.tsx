import { Alert, Button, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { Dialog } from '../forms/Dialog.tsx';
import { Icon, type IconName } from '../text/Icon.tsx';
import { checkSignature, type SignatureResult } from './check-signature.ts';

export type PastedValues = { headers: string; body: string; signingKey: string };

const SHOWN: Record<SignatureResult['outcome'], { color: string; icon: IconName }> = {
  valid: { color: 'teal', icon: 'check' },
  expired: { color: 'yellow', icon: 'warning' },
  invalid: { color: 'red', icon: 'warning' },
};
const NOT_SECURE: SignatureResult = {
  outcome: 'invalid',
  title: 'Not available over HTTP',
  detail: 'Browsers compute signatures only on pages with HTTPS.',
};

/** The values live only in this component, and nothing is sent. */
export function SignatureCheck({
  initial,
  onClose,
}: {
  initial: Partial<PastedValues>;
  onClose: () => void;
}) {
  const [values, setValues] = useState({ headers: '', body: '', signingKey: '', ...initial });
  const [result, setResult] = useState<SignatureResult>();
  const field = (name: keyof PastedValues) => ({
    value: values[name],
    onChange: ({ currentTarget: { value } }: { currentTarget: { value: string } }) => {
      setValues((before) => ({ ...before, [name]: value }));
      setResult(undefined);
    },
  });
  const check = async (event: FormEvent) => {
    event.preventDefault();
    setResult(globalThis.isSecureContext ? await checkSignature(values) : NOT_SECURE);
  };
  return (
    <Dialog wide above title="Check a signature" onClose={onClose}>
      <form onSubmit={(event) => void check(event)}>
        <Stack gap="sm">
          <Text size="sm" c="dimmed">
            Paste a request as your endpoint received it. It is checked in this browser; neither the request
            nor the key is sent.
          </Text>
          <Textarea
            label="Headers"
            description="One per line, as in a log or the output of curl -v. With the body below an empty line, leave Body empty."
            placeholder={'webhook-id: …\nwebhook-timestamp: …\nwebhook-signature: v1,…'}
            required
            autosize
            minRows={4}
            maxRows={8}
            spellCheck={false}
            styles={CODE}
            {...field('headers')}
          />
          <Textarea
            label="Body"
            description="The raw text, not formatted"
            placeholder={'{"guid":"…","organization_guid":"…",…}'}
            autosize
            minRows={3}
            maxRows={8}
            spellCheck={false}
            styles={CODE}
            {...field('body')}
          />
          <TextInput
            label="Signing key"
            description="During a roll, both keys separated by a comma"
            required
            autoComplete="off"
            spellCheck={false}
            styles={CODE}
            {...field('signingKey')}
          />
          <Button type="submit" style={{ alignSelf: 'flex-end' }}>
            Check signature
          </Button>
          {result ? (
            <Alert
              ref={(alert) => alert?.scrollIntoView({ block: 'nearest' })}
              variant="light"
              color={SHOWN[result.outcome].color}
              icon={<Icon name={SHOWN[result.outcome].icon} />}
              title={result.title}
            >
              {result.detail}
            </Alert>
          ) : null}
        </Stack>
      </form>
    </Dialog>
  );
}

const CODE = { input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: '0.75rem' } };
