import { Button, Progress, Stepper, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { use, useState } from 'react';
import type { CreatedApplication, Subscription } from '../../api/types.ts';
import { FreezeContext } from '../../session/freeze.ts';
import { type Setup, useSetup } from '../../session/use-setup.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { EmptyState } from '../../shared/feedback/EmptyState.tsx';
import { ErrorAlert } from '../../shared/feedback/ErrorAlert.tsx';
import { PageLoading } from '../../shared/feedback/PageLoading.tsx';
import { PageHeader } from '../../shared/page/PageHeader.tsx';
import { Panel } from '../../shared/page/Panel.tsx';
import { Icon } from '../../shared/text/Icon.tsx';
import { BankStep } from './BankStep.tsx';
import { CurlStep } from './CurlStep.tsx';
import { KeyStep } from './KeyStep.tsx';
import styles from './OnboardingPage.module.css';
import { SubscriptionStep } from './SubscriptionStep.tsx';
import { type StepName, stepsOf } from './steps.ts';
import { TestStep } from './TestStep.tsx';

export function OnboardingPage() {
  const { can } = useWorkspace();
  const isAllowed = can('bank_applications:write');
  const { data, error, refetch } = useSetup({ enabled: isAllowed });
  if (!isAllowed)
    return (
      <EmptyState icon="rocket" title="You need the Key Admin or Founder role to set up keys">
        Ask a Founder to change your role.
      </EmptyState>
    );
  if (data) return <Steps setup={data} onStep={() => void refetch()} />;
  return error ? <ErrorAlert error={error} onRetry={() => void refetch()} /> : <PageLoading />;
}

/** Begins at the first step that is not done. */
function Steps({ setup, onStep }: { setup: Setup; onStep: () => void }) {
  const { banks, has } = useWorkspace();
  const { isFrozen } = use(FreezeContext);
  const hasWebhooks = has('webhooks');
  const steps = stepsOf(hasWebhooks);
  const isDone: Record<StepName, boolean> = {
    bank: banks.some(({ environment }) => environment === 'sandbox'),
    key: setup.key !== undefined,
    subscription: setup.subscription !== undefined,
    test: setup.isDelivered,
    call: setup.usedKey !== undefined,
  };
  const [current, setStep] = useState<StepName>(
    () => steps.find(({ name }) => !isDone[name])?.name ?? 'call',
  );
  const setCurrent = (step: StepName) => {
    setStep(step);
    onStep();
  };
  const [key, setKey] = useState<CreatedApplication>();
  const [chosen, setChosen] = useState<Subscription>();
  const subscription = chosen ?? setup.subscription;
  const active = steps.findIndex(({ name }) => name === current);
  return (
    <>
      <PageHeader
        title="Get started"
        guide="quickstart"
        actions={
          steps.every(({ name }) => isDone[name]) ? undefined : (
            <Button component={Link} to="/overview" variant="default">
              Skip setup
            </Button>
          )
        }
      >
        {hasWebhooks
          ? 'Generate a key, receive your first event and make your first API call.'
          : 'Generate a key and make your first API call.'}
      </PageHeader>
      <div className={styles.columns}>
        <Stepper
          active={active}
          onStepClick={(index) => setCurrent(steps[index]?.name ?? 'bank')}
          orientation="vertical"
          size="sm"
          visibleFrom="sm"
          classNames={{
            step: styles.step ?? '',
            stepIcon: styles.icon ?? '',
            stepDescription: styles.description ?? '',
          }}
        >
          {steps.map(({ name, title, description }, index) => (
            <Stepper.Step
              key={name}
              data-done={isDone[name] || undefined}
              label={title}
              description={isDone[name] ? 'Done' : description}
              // A skipped step is not ticked.
              icon={isDone[name] ? <Icon name="check" /> : undefined}
              completedIcon={isDone[name] ? undefined : <span>{index + 1}</span>}
              // Not while a secret is pending or shown.
              allowStepSelect={(isDone[name] || index < active) && !isFrozen}
            />
          ))}
        </Stepper>
        <div className={styles.narrow}>
          <Text size="sm" c="dimmed" mb={6}>
            Step {active + 1} of {steps.length}
          </Text>
          <Progress value={((active + 1) / steps.length) * 100} aria-label="Setup progress" />
        </div>
        <Panel title={steps[active]?.title ?? ''} hint={steps[active]?.description}>
          {current === 'bank' ? <BankStep onDone={() => setCurrent('key')} /> : null}
          {current === 'key' ? (
            <KeyStep onCreated={setKey} onDone={() => setCurrent(hasWebhooks ? 'subscription' : 'call')} />
          ) : null}
          {current === 'subscription' ? (
            <SubscriptionStep
              onDone={(selected) => {
                setChosen(selected);
                setCurrent(selected ? 'test' : 'call');
              }}
            />
          ) : null}
          {current === 'test' && subscription ? (
            <TestStep subscription={subscription} onDone={() => setCurrent('call')} />
          ) : null}
          {current === 'call' ? <CurlStep created={key} existing={setup.key} /> : null}
        </Panel>
      </div>
    </>
  );
}
