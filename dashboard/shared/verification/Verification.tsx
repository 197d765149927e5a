import { Alert, Button, Skeleton } from '@mantine/core';
import { Suspense, useState } from 'react';
import { Dialog } from '../forms/Dialog.tsx';
import { lazyComponent } from '../loading/lazy-component.ts';
import { GuideLink } from '../text/GuideLink.tsx';
import type { PastedValues } from './SignatureCheck.tsx';

const VerificationTabs = lazyComponent(
  async () => (await import('./VerificationTabs.tsx')).VerificationTabs,
  ToolsNotLoaded,
);
const SignatureCheck = lazyComponent(
  async () => (await import('./SignatureCheck.tsx')).SignatureCheck,
  CheckNotLoaded,
);

export function VerificationCode({ signingKey }: { signingKey?: string }) {
  return (
    <Suspense fallback={<Skeleton height={340} />}>
      <VerificationTabs signingKey={signingKey} />
    </Suspense>
  );
}

export function VerificationCodeButton() {
  const [opened, setOpened] = useState(false);
  return (
    <>
      <Button variant="default" size="xs" onClick={() => setOpened(true)}>
        Verification code
      </Button>
      {opened ? (
        <Dialog wide title="Verification code" onClose={() => setOpened(false)}>
          <VerificationCode />
        </Dialog>
      ) : null}
    </>
  );
}

/** `initial` fills in what is known. */
export function CheckSignatureButton({
  initial = {},
  onToggle,
}: {
  initial?: Partial<PastedValues>;
  onToggle?: (opened: boolean) => void;
}) {
  const [opened, setOpened] = useState(false);
  const toggle = (next: boolean) => {
    setOpened(next);
    onToggle?.(next);
  };
  return (
    <>
      <Button variant="default" size="xs" onClick={() => toggle(true)}>
        Check a signature
      </Button>
      {opened ? (
        <Suspense>
          <SignatureCheck initial={initial} onClose={() => toggle(false)} />
        </Suspense>
      ) : null}
    </>
  );
}

function ToolsNotLoaded() {
  return (
    <Alert color="yellow" variant="light" title="Could not load the verification tools">
      Reload the page later, or read{' '}
      <GuideLink guide="webhooks#verify-the-signature" inherit underline="always">
        Verify the signature
      </GuideLink>
      .
    </Alert>
  );
}

function CheckNotLoaded({ onClose }: { onClose: () => void }) {
  return (
    <Dialog wide above title="Check a signature" onClose={onClose}>
      <ToolsNotLoaded />
    </Dialog>
  );
}
