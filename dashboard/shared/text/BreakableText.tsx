import { Fragment } from 'react';

/** A name like organization_application.create, which may go on in the next line where it has a `_`. */
export function BreakableText({ text }: { text: string }) {
  return text.split(/(?<=_)/).map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: parts of one name are told apart by nothing else
    <Fragment key={index}>
      {index > 0 ? <wbr /> : null}
      {part}
    </Fragment>
  ));
}
