import { Outlet, useLocation, useNavigate } from '@tanstack/react-router';
import { use, useCallback, useMemo } from 'react';
import { type ApiError, hasCode } from '../api/api-error.ts';
import { createApi } from '../api/client.ts';
import { permissionsOf } from '../api/permissions.ts';
import type { Feature, Organization, Session } from '../api/types.ts';
import { ProofContext, useProofDialog } from '../auth/proof.tsx';
import { SecondFactorRequired } from '../auth/SecondFactorRequired.tsx';
import { FreezeContext, useFreezeState, useFrozen } from '../session/freeze.ts';
import { SESSION_KEY, useServices } from '../session/services.ts';
import { useSession } from '../session/session.ts';
import { useBanks } from '../session/use-banks.ts';
import { useIsSameMember } from '../session/use-same-member.ts';
import { useSelected } from '../session/use-selected.ts';
import { WorkspaceContext } from '../session/workspace.ts';
import { ErrorAlert } from '../shared/feedback/ErrorAlert.tsx';
import { PageLoading } from '../shared/feedback/PageLoading.tsx';
import { useFilters } from '../shared/filters/use-filters.ts';
import { NoOrganization } from './NoOrganization.tsx';
import { RedirectToLogin } from './RedirectToLogin.tsx';
import { Shell } from './Shell.tsx';

/** Requires a login, selects the Organization and bank, and renders the shell. */
export function Workspace() {
  const { data, error, isPending, refetch } = useSession();
  // A one-time secret stays when the session ends. Logging out removes it, because that clears the banks too.
  const freeze = useFreezeState();
  const session = useFrozen(data, freeze.isFrozen);
  const isSamePerson = useIsSameMember(session);
  const { filters } = useFilters();
  const organization = useSelected('organization', session?.organizations ?? [], filters.org);
  if (isPending) return <PageLoading />;
  if (error && session === undefined) return <ErrorAlert error={error} onRetry={() => void refetch()} />;
  if (!session) return <RedirectToLogin />;
  if (!isSamePerson) return <PageLoading />;
  if (!organization) return <NoOrganization session={session} />;
  return (
    <FreezeContext value={freeze}>
      <OrganizationWorkspace key={organization.guid} session={session} organization={organization} />
    </FreezeContext>
  );
}

function OrganizationWorkspace({ session, organization }: { session: Session; organization: Organization }) {
  const { tokens, queries } = useServices();
  const { filters, change } = useFilters();
  const navigate = useNavigate();
  const { pathname } = useLocation();
  const isLocked = organization.second_factor === 'always' && !session.second_factor;
  const { data, error, isPending, refetch } = useBanks(organization.guid, session.environments, {
    enabled: !isLocked,
  });
  const { isFrozen } = use(FreezeContext);
  const banks = useFrozen(data, isFrozen) ?? [];
  const bank = useSelected('bank', banks, filters.bank);
  const environment = bank?.environment ?? 'sandbox';
  const isAccount = pathname.split('/')[1] === 'account';

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

  // Stable per tenant: live streams reconnect when it changes.
  const api = useMemo(
    () => createApi(tokens, { organizationGuid: organization.guid, environment }, requestProof),
    [tokens, organization.guid, environment, requestProof],
  );
  const workspace = {
    session,
    organization,
    can: permissionsOf(organization.role),
    has: (feature: Feature) => organization.features.includes(feature),
    banks,
    areBanksLoaded: data !== undefined,
    bank,
    environment,
    api,
    isLocked,
    chooseBank: ({ guid }: { guid: string }) => change({ bank: guid }),
    chooseOrganization: (guid: string) => {
      // Filters and object guids belong to the previous Organization, so only the top-level page is kept.
      void navigate({ to: `/${pathname.split('/')[1]}`, search: { org: guid } });
    },
  };

  return (
    <WorkspaceContext value={workspace}>
      <Shell>
        <ProofContext value={requestProof}>
          {isLocked ? isAccount ? <Outlet /> : <SecondFactorRequired /> : null}
          {isPending && !isLocked ? <PageLoading /> : null}
          {error && !data ? <ErrorAlert error={error} onRetry={() => void refetch()} /> : null}
          {/* Stays mounted after a failed refresh: it may show a one-time secret. */}
          {data && !isLocked ? <Outlet key={`${environment} ${bank?.guid}`} /> : null}
        </ProofContext>
        {proofDialog}
      </Shell>
    </WorkspaceContext>
  );
}
