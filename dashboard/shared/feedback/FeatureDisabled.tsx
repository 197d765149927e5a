import type { Feature } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { MailLink } from '../page/MailLink.tsx';
import { PageHeader } from '../page/PageHeader.tsx';
import { Panel } from '../page/Panel.tsx';
import type { IconName } from '../text/Icon.tsx';
import { EmptyState } from './EmptyState.tsx';

const WORDS: Record<Feature, { title: string; icon: IconName; meaning: string }> = {
  webhooks: {
    title: 'Webhooks',
    icon: 'webhook',
    meaning: 'Whatever happens to your objects is posted to an address of yours, signed, within a moment.',
  },
  files: {
    title: 'Files',
    icon: 'file',
    meaning: 'Documents of your customers are uploaded, checked and kept, for calls to refer to.',
  },
};

/** In place of a page of something that this Organization does not have: what it would be, and who can change that. */
export function FeatureDisabled({ feature }: { feature: Feature }) {
  const { organization, session } = useWorkspace();
  const { title, icon, meaning } = WORDS[feature];
  return (
    <>
      <PageHeader title={title} />
      <Panel>
        <EmptyState icon={icon} title={`${organization.name} does not have ${title.toLowerCase()} yet`}>
          {meaning} To have this enabled, write to <MailLink to={session.support_email} />.
        </EmptyState>
      </Panel>
    </>
  );
}
