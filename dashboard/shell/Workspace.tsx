import { Outlet, useLocation, useNavigate } from '@tanstack/react-router';
import { use, useCallback, useMemo } from 'react';
import { type ApiError, hasCode } from '../api/api-error.ts';
import { createApi } from '../api/client.ts';
import { permissionsOf } from '../api/permissions.ts';
import type { Feature, Organization, Session } from '../api/types.ts';
import { ProofContext, useProofDialog } from '../auth/proof.tsx';
import { SecondFactorRequired } from '../auth/SecondFactorRequired.tsx';
import { FreezeContext, useFreezeState, useFrozen } from '../session/freeze.ts';
import { useServices } from '../session/services.ts';
import { SESSION_KEY, useSession } from '../session/session.ts';
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

/** Lets in who is logged in, finds what they look at, and puts the frame around it. */
export function Workspace() {
  const { data, error, isPending, refetch } = useSession();
  // A session that ends takes nothing away that is shown once. A log out does: it forgets the banks, and their page.
  const keep = useFreezeState();
  const session = useFrozen(data, keep.isFrozen);
  const isSamePerson = useIsSameMember(session);
  const { filters } = useFilters();
  const organization = useSelected('organization', session?.organizations ?? [], filters.org);
  if (isPending) return <PageLoading />;
  if (error && session === undefined) return <ErrorAlert error={error} onRetry={() => void refetch()} />;
  if (!session) return <RedirectToLogin />;
  if (!isSamePerson) return <PageLoading />;
  if (!organization) return <NoOrganization session={session} />;
  return (
    <FreezeContext value={keep}>
      <OrganizationWorkspace key={organization.guid} session={session} organization={organization} />
    </FreezeContext>
  );
}

function OrganizationWorkspace({ session, organization }: { session: Session; organization: Organization }) {
  const { tokens, queries } = useServices();
  const { filters, change } = useFilters();
  const navigate = useNavigate();
  const { pathname } = useLocation();
  // Until a second factor is given the service refuses everything but one's own account.
  const isLocked = organization.second_factor === 'always' && !session.second_factor;
  const { data, error, isPending, refetch } = useBanks(organization.guid, session.environments, {
    enabled: !isLocked,
  });
  const { isFrozen } = use(FreezeContext);
  const banks = useFrozen(data, isFrozen) ?? [];
  const bank = useSelected('bank', banks, filters.bank);
  const environment = bank?.environment ?? 'sandbox';
  const isAccount = pathname.split('/')[1] === 'account';

  const { ask: askForProof, dialog: proofDialog } = useProofDialog();
  const { has_totp: hasTotp, passkey_count: passkeys } = session.member;
  const hasSecondFactor = hasTotp || passkeys > 0;
  const ask = useCallback(
    async (problem: ApiError) => {
      if (hasCode(problem, 'second_factor_required') && !hasSecondFactor) throw problem;
      await askForProof(problem);
      await queries.invalidateQueries({ queryKey: SESSION_KEY });
    },
    [askForProof, hasSecondFactor, queries],
  );

  // The same one as long as it is for the same tenant: streams are opened with it.
  const api = useMemo(
    () => createApi(tokens, { organizationGuid: organization.guid, environment }, ask),
    [tokens, organization.guid, environment, ask],
  );
  const workspace = {
    session,
    organization,
    can: permissionsOf(organization.role),
    has: (feature: Feature) => organization.features.includes(feature),
    banks,
    bank,
    environment,
    api,
    isLocked,
    chooseBank: ({ guid }: { guid: string }) => change({ bank: guid }),
    chooseOrganization: (guid: string) => {
      // Filters and single objects are of the one that is left; the page that lists them is there in the other as well.
      void navigate({ to: `/${pathname.split('/')[1]}`, search: { org: guid } });
    },
  };

  return (
    <WorkspaceContext value={workspace}>
      <Shell>
        <ProofContext value={ask}>
          {isLocked ? isAccount ? <Outlet /> : <SecondFactorRequired /> : null}
          {isPending && !isLocked ? <PageLoading /> : null}
          {error && !data ? <ErrorAlert error={error} onRetry={() => void refetch()} /> : null}
          {/* A refresh that failed takes nothing away: the page may show a secret that is shown once. */}
          {data && !isLocked ? <Outlet key={`${environment} ${bank?.guid}`} /> : null}
        </ProofContext>
        {proofDialog}
      </Shell>
    </WorkspaceContext>
  );
}
