import { Button, Group, Stack, Stepper, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { Dialog } from '../forms/Dialog.tsx';
import { FormActions } from '../forms/FormActions.tsx';
import { Icon } from '../text/Icon.tsx';
import styles from './RotationDialog.module.css';

/** What tells that the new one works. */
type Proof = {
  text: string;
  isThere: boolean;
  there: string;
  missing: string;
  next: string;
  /** What one may say in its place; without it there is no going on. */
  word?: string;
  /** Tries again at once, while it is missing. */
  retry?: { action: string; pending: boolean; onRetry: () => void };
};
type Retirement = { text: string; action: string; pending: boolean; error: unknown; onRetire: () => void };

/** A second one beside the first, seen to work, and only then the first is given up. */
export function RotationDialog({
  title,
  steps,
  pending,
  form,
  secret,
  proof,
  retirement,
  onClose,
}: {
  title: string;
  steps: readonly [string, string, string];
  /** The second one is being made. */
  pending: boolean;
  form: ReactNode;
  /** Of the second one, as soon as it is there. */
  secret: ((onStored: () => void) => ReactNode) | undefined;
  proof: Proof;
  retirement: Retirement;
  onClose: () => void;
}) {
  const [step, setStep] = useState(0);
  const held = pending || retirement.pending || (step === 0 && secret !== undefined);
  return (
    <Dialog wide title={title} held={held} onClose={onClose}>
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
          <Text size="sm">{proof.text}</Text>
          <Group gap="xs" c={proof.isThere ? 'teal' : 'dimmed'} role="status">
            <Icon name={proof.isThere ? 'check' : 'refresh'} size={16} />
            <Text size="sm" c="inherit">
              {proof.isThere ? proof.there : proof.missing}
            </Text>
            {proof.retry && !proof.isThere ? (
              <Button
                variant="default"
                size="compact-sm"
                loading={proof.retry.pending}
                onClick={proof.retry.onRetry}
              >
                {proof.retry.action}
              </Button>
            ) : null}
          </Group>
          <FormActions
            action={proof.isThere ? proof.next : (proof.word ?? proof.next)}
            faint={!proof.isThere}
            disabled={!proof.isThere && proof.word === undefined}
            onAction={() => setStep(2)}
            cancel="Finish later"
            onCancel={onClose}
          />
        </Stack>
      ) : null}
      {step === 2 ? (
        <Stack>
          <Text size="sm">{retirement.text}</Text>
          <FormActions
            danger
            action={retirement.action}
            onAction={retirement.onRetire}
            pending={retirement.pending}
            error={retirement.error}
            cancel="Keep both"
            onCancel={onClose}
          />
        </Stack>
      ) : null}
    </Dialog>
  );
}
