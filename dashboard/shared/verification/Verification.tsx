import { Alert, Button, Skeleton } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import { Dialog } from '../forms/Dialog.tsx';
import { GuideLink } from '../text/GuideLink.tsx';
import type { PastedValues } from './SignatureCheck.tsx';

/** A file that cannot be loaded must not replace the page: it may show a secret that is shown only once. */
const VerificationTabs = lazy(() =>
  import('./VerificationTabs.tsx').then(
    (module) => ({ default: module.VerificationTabs }),
    () => ({ default: NotLoaded }),
  ),
);
const SignatureCheck = lazy(() =>
  import('./SignatureCheck.tsx').then(
    (module) => ({ default: module.SignatureCheck }),
    () => ({ default: CheckNotLoaded }),
  ),
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

function NotLoaded() {
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
      <NotLoaded />
    </Dialog>
  );
}
