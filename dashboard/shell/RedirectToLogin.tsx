import { useNavigate, useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { PageLoading } from '../shared/feedback/PageLoading.tsx';

/** To the login, once, with the way back to where this was; while that page loads the address is already its own. */
export function RedirectToLogin() {
  const navigate = useNavigate();
  const { state } = useRouter();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the address as it was when nobody was found to be logged in
  useEffect(() => {
    const { pathname, searchStr } = state.location;
    void navigate({ to: '/login', search: { next: pathname + searchStr }, replace: true });
  }, []);
  return <PageLoading />;
}
