import { useState } from 'react';
import { LoginForm } from '../../auth/LoginForm.tsx';
import { useHasSessionEnded } from '../../session/session.ts';
import { useFilters } from '../../shared/filters/use-filters.ts';
import { LoginLayout } from './LoginLayout.tsx';
import { useCompleteLogin } from './use-complete-login.ts';

export function LoginPage() {
  const { filters } = useFilters();
  // The login ends it, and the notice would disappear before the page.
  const [hasEnded] = useState(useHasSessionEnded());
  const completeLogin = useCompleteLogin();
  return (
    <LoginLayout title="Log in" subtitle="Manage API keys, webhooks and deliveries">
      <LoginForm hasEnded={hasEnded} onSuccess={(session) => completeLogin(session, filters.next)} />
    </LoginLayout>
  );
}
