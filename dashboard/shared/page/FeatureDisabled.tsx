import type { Feature } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { EmptyState } from '../feedback/EmptyState.tsx';
import type { IconName } from '../text/Icon.tsx';
import { MailLink } from '../text/MailLink.tsx';
import { PageHeader } from './PageHeader.tsx';
import { Panel } from './Panel.tsx';

const TEXTS: Record<Feature, { title: string; icon: IconName; description: string }> = {
  webhooks: {
    title: 'Webhooks',
    icon: 'webhook',
    description: 'Receive a signed POST request at your endpoint for every event.',
  },
  files: {
    title: 'Files',
    icon: 'file',
    description: 'Upload documents of your customers and refer to them in API calls.',
  },
};

export function FeatureDisabled({ feature }: { feature: Feature }) {
  const { organization, session } = useWorkspace();
  const { title, icon, description } = TEXTS[feature];
  return (
    <>
      <PageHeader title={title} />
      <Panel>
        <EmptyState icon={icon} title={`${title} are not enabled for ${organization.name}`}>
          {description} To enable {title.toLowerCase()}, contact <MailLink to={session.support_email} />.
        </EmptyState>
      </Panel>
    </>
  );
}
