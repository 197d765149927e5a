import { useWindowEvent } from '@mantine/hooks';
import { Outlet, useLocation, useRouter } from '@tanstack/react-router';
import { use, useCallback, useMemo } from 'react';
import { type ApiError, hasCode } from '../api/api-error.ts';
import { createApi } from '../api/client.ts';
import { permissionsOf } from '../api/permissions.ts';
import { NO_TOKENS } from '../api/tokens.ts';
import type { Bank, Feature, Organization, Session } from '../api/types.ts';
import { ProofContext, useProofDialog } from '../auth/proof.tsx';
import { SecondFactorRequired } from '../auth/SecondFactorRequired.tsx';
import { FreezeContext, useFreezeState, useFrozen } from '../session/freeze.ts';
import { SESSION_KEY, useServices } from '../session/services.ts';
import { useHasSessionEnded, useRefreshAfter, useSession } from '../session/session.ts';
import { useBanks } from '../session/use-banks.ts';
import { useIsSameMember } from '../session/use-same-member.ts';
import { useSelected } from '../session/use-selected.ts';
import { WorkspaceContext } from '../session/workspace.ts';
import { ErrorAlert } from '../shared/feedback/ErrorAlert.tsx';
import { PageLoading } from '../shared/feedback/PageLoading.tsx';
import { useFilters } from '../shared/filters/use-filters.ts';
import { LeaveGuard } from '../shared/forms/LeaveGuard.tsx';
import { NoOrganization } from './NoOrganization.tsx';
import { RedirectToLogin } from './RedirectToLogin.tsx';
import { SessionEnded } from './SessionEnded.tsx';
import { Shell } from './Shell.tsx';

const NO_BANKS: readonly Bank[] = [];

/** Requires a login, selects the Organization and bank, and renders the shell. */
export function Workspace() {
  const { data, error, isPending, refetch } = useSession();
  const hasEnded = useHasSessionEnded();
  useRefreshAfter(hasEnded);
  const freeze = useFreezeState();
  const isCovered = hasEnded && !freeze.isFrozen;
  // Dialogs listen on the window, too, but later than this: Escape reaches none behind the login.
  useWindowEvent(
    'keydown',
    (event) => {
      if (isCovered && event.key === 'Escape') event.stopImmediatePropagation();
    },
    { capture: true },
  );
  // Forms and one-time secrets stay when the session ends. Logging out removes them, because that clears the banks too.
  const session = useFrozen(data, freeze.isFrozen || hasEnded);
  const isSamePerson = useIsSameMember(session);
  const { filters } = useFilters();
  const organization = useSelected('organization', session?.organizations ?? [], filters.org);
  if (isPending) return <PageLoading />;
  if (error && session === undefined) return <ErrorAlert error={error} onRetry={() => void refetch()} />;
  if (!session) return <RedirectToLogin />;
  if (!isSamePerson) return <PageLoading />;
  if (!organization) return hasEnded ? <RedirectToLogin /> : <NoOrganization session={session} />;
  return (
    <FreezeContext value={freeze}>
      <OrganizationWorkspace key={organization.guid} {...{ session, organization, hasEnded }} />
      {isCovered ? <SessionEnded member={session.member} /> : null}
    </FreezeContext>
  );
}

function OrganizationWorkspace({
  session,
  organization,
  hasEnded,
}: {
  session: Session;
  organization: Organization;
  hasEnded: boolean;
}) {
  const { tokens: issued, queries } = useServices();
  const tokens = hasEnded ? NO_TOKENS : issued;
  const { filters, change } = useFilters();
  const router = useRouter();
  const section = useLocation({ select: ({ pathname }) => sectionOf(pathname) });
  const isLocked = organization.second_factor === 'always' && !session.second_factor;
  const { data, error, isPending, refetch } = useBanks(organization.guid, session.environments, {
    tokens,
    enabled: !isLocked,
  });
  const { isFrozen } = use(FreezeContext);
  const banks = useFrozen(data, isFrozen) ?? NO_BANKS;
  const bank = useSelected('bank', banks, filters.bank);
  const environment = bank?.environment ?? 'sandbox';
  const isAccount = section === 'account';

  const { requestProof: openProofDialog, dialog: proofDialog } = useProofDialog();
  const { has_totp: hasTotp, passkey_count: passkeys } = session.member;
  const hasSecondFactor = hasTotp || passkeys > 0;
  const requestProof = useCallback(
    async (error: ApiError) => {
      if (hasCode(error, 'second_factor_required') && !hasSecondFactor) throw error;
      await openProofDialog(error);
      await queries.invalidateQueries({ queryKey: SESSION_KEY });
    },
    [openProofDialog, hasSecondFactor, queries],
  );

  // Stable per tenant and session: live streams reconnect when it changes.
  const api = useMemo(
    () => createApi(tokens, { organizationGuid: organization.guid, environment }, requestProof),
    [tokens, organization.guid, environment, requestProof],
  );
  const areBanksLoaded = data !== undefined;
  // The shell and the page render again when it changes, so it has to stay the same while the user navigates.
  const workspace = useMemo(
    () => ({
      session,
      organization,
      can: permissionsOf(organization.role),
      has: (feature: Feature) => organization.features.includes(feature),
      banks,
      areBanksLoaded,
      bank,
      environment,
      api,
      tokens,
      isLocked,
      chooseBank: ({ guid }: { guid: string }) => change({ bank: guid }),
      chooseOrganization: (guid: string) => {
        // Filters and object guids belong to the previous Organization, so only the top-level page is kept.
        void router.navigate({ to: `/${sectionOf(router.state.location.pathname)}`, search: { org: guid } });
      },
    }),
    [session, organization, banks, areBanksLoaded, bank, environment, api, tokens, isLocked, change, router],
  );

  return (
    <WorkspaceContext value={workspace}>
      <Shell>
        <ProofContext value={requestProof}>
          <LeaveGuard>
            {isLocked ? isAccount ? <Outlet /> : <SecondFactorRequired /> : null}
            {isPending && !isLocked ? <PageLoading /> : null}
            {error && !data ? <ErrorAlert error={error} onRetry={() => void refetch()} /> : null}
            {/* Stays mounted after a failed refresh: it may show a one-time secret. */}
            {data && !isLocked ? <Outlet key={`${environment} ${bank?.guid}`} /> : null}
          </LeaveGuard>
        </ProofContext>
        {proofDialog}
      </Shell>
    </WorkspaceContext>
  );
}

/** The first part of a path, which names a page of the menu. */
function sectionOf(pathname: string): string {
  return pathname.split('/')[1] ?? '';
}
