import { Progress, Stepper, Text } from '@mantine/core';
import { useState } from 'react';
import type { CreatedApplication, Subscription } from '../../api/types.ts';
import { EmptyState } from '../../shared/EmptyState.tsx';
import { PageHeader } from '../../shared/PageHeader.tsx';
import { Panel } from '../../shared/Panel.tsx';
import { useWorkspace } from '../../shell/workspace-context.ts';
import { BankStep } from './BankStep.tsx';
import { CurlStep } from './CurlStep.tsx';
import { KeyStep } from './KeyStep.tsx';
import styles from './OnboardingPage.module.css';
import { SubscriptionStep } from './SubscriptionStep.tsx';
import { TestStep } from './TestStep.tsx';

const STEPS = [
  { name: 'Sandbox bank', meaning: 'Where you try everything without consequences' },
  { name: 'Bank key', meaning: 'What your program gets its tokens with' },
  { name: 'Subscription', meaning: 'Where the events are sent' },
  { name: 'Test event', meaning: 'Seen to arrive' },
  { name: 'First call', meaning: 'A command to paste' },
];

/** From nothing to a webhook that arrives: five steps, each of which can be skipped when it is done already. */
export function OnboardingPage() {
  const { can, organization } = useWorkspace();
  const [step, setStep] = useState(0);
  const [key, setKey] = useState<CreatedApplication>();
  const [subscription, setSubscription] = useState<Subscription>();
  if (!can('bank_applications:write'))
    return (
      <EmptyState icon="rocket" title="Set-up is not for your role">
        A Founder or Key Admin of your team generates keys and creates subscriptions.
      </EmptyState>
    );
  const afterKey = organization.features.includes('webhooks') ? 2 : 4;
  return (
    <>
      <PageHeader title="Get started">
        In a few minutes your program has a key, and a first event has reached your endpoint.
      </PageHeader>
      <div className={styles.columns}>
        <Stepper
          active={step}
          onStepClick={(wanted) => wanted < step && setStep(wanted)}
          orientation="vertical"
          size="sm"
          visibleFrom="sm"
        >
          {STEPS.map(({ name, meaning }) => (
            <Stepper.Step key={name} label={name} description={meaning} />
          ))}
        </Stepper>
        <div className={styles.narrow}>
          <Text size="sm" c="dimmed" mb={6}>
            Step {step + 1} of {STEPS.length}
          </Text>
          <Progress value={((step + 1) / STEPS.length) * 100} aria-label="How far the set-up is" />
        </div>
        <Panel title={STEPS[step]?.name ?? ''} hint={STEPS[step]?.meaning}>
          {step === 0 ? <BankStep onDone={() => setStep(1)} /> : null}
          {step === 1 ? <KeyStep onCreated={setKey} onDone={() => setStep(afterKey)} /> : null}
          {step === 2 ? (
            <SubscriptionStep
              onDone={(chosen) => {
                setSubscription(chosen);
                setStep(chosen ? 3 : 4);
              }}
            />
          ) : null}
          {step === 3 && subscription ? (
            <TestStep subscription={subscription} onDone={() => setStep(4)} />
          ) : null}
          {step === 4 ? <CurlStep created={key} /> : null}
        </Panel>
      </div>
    </>
  );
}
