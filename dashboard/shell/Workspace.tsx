import { Outlet, useLocation, useNavigate } from '@tanstack/react-router';
import { use, useCallback, useMemo } from 'react';
import { createApi } from '../api/client.ts';
import { permissionsOf } from '../api/permissions.ts';
import { hasCode, type Problem } from '../api/problem.ts';
import type { Feature, Organization, Session } from '../api/types.ts';
import { useServices } from '../app/services.tsx';
import { Failure } from '../shared/Failure.tsx';
import { useFilters } from '../shared/filters.ts';
import { KeepContext, useKeeper, useKept } from '../shared/hold.ts';
import { PageLoading } from '../shared/PageLoading.tsx';
import { useBanks } from './banks.ts';
import { NoOrganization } from './NoOrganization.tsx';
import { useIsSamePerson } from './one-person.ts';
import { usePlace } from './place.ts';
import { ProofContext, useProofDialog } from './proof.tsx';
import { SecondFactorNeeded } from './SecondFactorNeeded.tsx';
import { Shell } from './Shell.tsx';
import { SESSION_KEY, useSession } from './session.ts';
import { ToLogin } from './ToLogin.tsx';
import { WorkspaceContext } from './workspace-context.ts';

/** Lets in who is logged in, finds what they look at, and puts the frame around it. */
export function Workspace() {
  const { data, error, isPending, refetch } = useSession();
  // A session that ends takes nothing away that is shown once. A log out does: it forgets the banks, and their page.
  const keep = useKeeper();
  const session = useKept(data, keep.isKept);
  const isSamePerson = useIsSamePerson(session);
  const { filters } = useFilters();
  const organization = usePlace('organization', session?.organizations ?? [], filters.org);
  if (isPending) return <PageLoading />;
  if (error && session === undefined) return <Failure error={error} onRetry={() => void refetch()} />;
  if (!session) return <ToLogin />;
  if (!isSamePerson) return <PageLoading />;
  if (!organization) return <NoOrganization session={session} />;
  return (
    <KeepContext value={keep}>
      <OrganizationWorkspace key={organization.guid} session={session} organization={organization} />
    </KeepContext>
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
  const { isKept } = use(KeepContext);
  const banks = useKept(data, isKept) ?? [];
  const bank = usePlace('bank', banks, filters.bank);
  const environment = bank?.environment ?? 'sandbox';
  const isAccount = pathname.split('/')[1] === 'account';

  const { ask: askForProof, dialog: proofDialog } = useProofDialog();
  const { has_totp: hasTotp, passkey_count: passkeys } = session.member;
  const hasSecondFactor = hasTotp || passkeys > 0;
  const ask = useCallback(
    async (problem: Problem) => {
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
          {isLocked ? isAccount ? <Outlet /> : <SecondFactorNeeded /> : null}
          {isPending && !isLocked ? <PageLoading /> : null}
          {error && !data ? <Failure error={error} onRetry={() => void refetch()} /> : null}
          {/* A refresh that failed takes nothing away: the page may show a secret that is shown once. */}
          {data && !isLocked ? <Outlet key={`${environment} ${bank?.guid}`} /> : null}
        </ProofContext>
        {proofDialog}
      </Shell>
    </WorkspaceContext>
  );
}
