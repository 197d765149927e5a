import { Fragment } from 'react';

/** Allows line breaks after each `_` of a long name and each `:` of an IPv6 address. */
export function BreakableText({ text }: { text: string }) {
  return text.split(/(?<=[_:])/).map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: parts have no identity but their position
    <Fragment key={index}>
      {index > 0 ? <wbr /> : null}
      {part}
    </Fragment>
  ));
}
