import { Button, Group, Stack, Stepper, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { Dialog } from '../forms/Dialog.tsx';
import { FormActions } from '../forms/FormActions.tsx';
import { Icon } from '../text/Icon.tsx';
import styles from './RotationDialog.module.css';

/** Shows whether the new credential is in use. */
type Verification = {
  text: string;
  isVerified: boolean;
  verified: string;
  waiting: string;
  next: string;
  /** Label of the button that continues without verification; without it the step cannot be skipped. */
  skip?: string;
  retry?: { action: string; pending: boolean; onRetry: () => void };
};
type Removal = { text: string; action: string; pending: boolean; error: unknown; onRemove: () => void };

/** Rotates a credential in three steps: create the new one, verify that it works, remove the old one. */
export function RotationDialog({
  title,
  steps,
  pending,
  form,
  secret,
  verification,
  removal,
  continued = false,
  onClose,
}: {
  title: string;
  steps: readonly [string, string, string];
  pending: boolean;
  form: ReactNode;
  /** Replaces the form once the new credential is created. */
  secret: ((onStored: () => void) => ReactNode) | undefined;
  verification: Verification;
  removal: Removal;
  /** Starts with the second step: the new credential exists. */
  continued?: boolean;
  onClose: () => void;
}) {
  const [step, setStep] = useState(continued ? 1 : 0);
  const locked = pending || removal.pending || (step === 0 && secret !== undefined);
  const { isVerified, retry, skip } = verification;
  return (
    <Dialog wide title={title} locked={locked} onClose={onClose}>
      <Stepper active={step} size="sm" mb="lg">
        {steps.map((label, index) => (
          <Stepper.Step
            key={label}
            label={<span className={index === step ? undefined : styles.otherLabel}>{label}</span>}
          />
        ))}
      </Stepper>
      {step === 0 ? (secret?.(() => setStep(1)) ?? form) : null}
      {step === 1 ? (
        <Stack>
          <Text size="sm">{verification.text}</Text>
          <Group gap="xs" c={isVerified ? 'teal' : 'dimmed'} role="status">
            <Icon name={isVerified ? 'check' : 'refresh'} size={16} />
            <Text size="sm" c="inherit">
              {isVerified ? verification.verified : verification.waiting}
            </Text>
            {retry && !isVerified ? (
              <Button variant="default" size="compact-sm" loading={retry.pending} onClick={retry.onRetry}>
                {retry.action}
              </Button>
            ) : null}
          </Group>
          <FormActions
            action={isVerified ? verification.next : (skip ?? verification.next)}
            secondary={!isVerified}
            disabled={!isVerified && skip === undefined}
            onAction={() => setStep(2)}
            cancel="Finish later"
            onCancel={onClose}
          />
        </Stack>
      ) : null}
      {step === 2 ? (
        <Stack>
          <Text size="sm">{removal.text}</Text>
          <FormActions
            danger
            action={removal.action}
            onAction={removal.onRemove}
            pending={removal.pending}
            error={removal.error}
            cancel="Keep both"
            onCancel={onClose}
          />
        </Stack>
      ) : null}
    </Dialog>
  );
}
