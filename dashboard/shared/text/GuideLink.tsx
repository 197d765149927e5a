import { Anchor, type AnchorProps } from '@mantine/core';
import type { ReactNode } from 'react';
import type { GuideName } from '../../guides/pages.ts';

/** A guide, or a section of it. */
export type GuideAddress = GuideName | `${GuideName}#${string}`;

export function GuideLink({
  guide,
  children = 'Read the guide',
  ...props
}: AnchorProps & { guide: GuideAddress; children?: ReactNode }) {
  return (
    <Anchor href={`/guides/${guide}`} target="_blank" {...props}>
      {children}
    </Anchor>
  );
}
