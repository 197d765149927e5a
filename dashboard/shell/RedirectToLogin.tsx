import { useNavigate, useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { PageLoading } from '../shared/feedback/PageLoading.tsx';

/** Keeps the current path, so that the login returns to it. */
export function RedirectToLogin() {
  const navigate = useNavigate();
  const { state } = useRouter();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the path before the redirect, which changes it
  useEffect(() => {
    const { pathname, searchStr } = state.location;
    void navigate({ to: '/login', search: { next: pathname + searchStr }, replace: true });
  }, []);
  return <PageLoading />;
}
