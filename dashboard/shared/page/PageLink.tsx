import { Anchor, type AnchorProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { ComponentPropsWithRef } from 'react';

type Props = AnchorProps & Omit<ComponentPropsWithRef<'a'>, keyof AnchorProps>;

/** A link to a page of the dashboard that looks like one; the router knows its parameters. */
export const PageLink = createLink((props: Props) => <Anchor {...props} />);
