import Type, { type Static, type TObject, type TProperties, type TSchema } from 'typebox';
import type { Page, PageOf } from '../../database/paging/paging.ts';
import { Failure } from '../../runtime/failure.ts';
import { Guid, strictObject } from './schemas.ts';

/** Lists (contract, section 5): numbered pages near the top, `after` for a walk of any depth. */
const DEFAULT_PER_PAGE = 20;
const MAX_PER_PAGE = 100;
/** Numbered pages end here: skipping rows costs more the deeper it goes, and `after` does not. */
const MAX_NUMBERED_OBJECTS = 10_000;

const pageProperties = {
  page: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_NUMBERED_OBJECTS,
      description: 'The number of the page, from 0; not together with after. Pages end at 10,000 objects',
    }),
  ),
  per_page: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_PER_PAGE,
      default: DEFAULT_PER_PAGE,
      description: `Objects on a page, at most ${MAX_PER_PAGE}`,
    }),
  ),
  after: Type.Optional({
    ...Guid,
    description: 'The next of the previous page, for lists of any length; not together with page',
  }),
};

/** The query string of a list: paging, and the filters that this list has. */
export function listQuery<Filters extends TProperties>(
  filters: Filters,
): TObject<typeof pageProperties & Filters> {
  return strictObject({ ...pageProperties, ...filters }) as TObject<typeof pageProperties & Filters>;
}

/** The same for a list that is always short: it needs no `after`. */
export function shortListQuery<Filters extends TProperties>(filters: Filters) {
  const { after: _, ...numbered } = pageProperties;
  return strictObject({ ...numbered, ...filters });
}

const Total = Type.Integer({ description: 'Number of objects, counted up to 10,000', example: 1 });
const PageNumber = Type.Integer({ description: 'The number of the page, from 0', example: 0 });
const PerPage = Type.Integer({ description: 'Objects on a page', example: DEFAULT_PER_PAGE });

/** A page of a list; the component is named after the schema of its objects. */
export function listOf<Item extends TSchema>(item: Item) {
  const { title } = item as { title?: string };
  return Type.Object(
    {
      total: Total,
      page: PageNumber,
      per_page: PerPage,
      objects: Type.Array(item),
      next: Type.Optional({
        ...Guid,
        description: 'Pass it as after to get the next page; absent on the last page',
      }),
    },
    { title: `${title}Page`, example: {} },
  );
}

export type PageQuery = Static<TObject<typeof pageProperties>>;

export function pageOf({ page, per_page: perPage = DEFAULT_PER_PAGE, after }: PageQuery): Page | Failure {
  if (page !== undefined && after !== undefined)
    return new Failure('invalid_parameter', 'page and after cannot be combined');
  const offset = (page ?? 0) * perPage;
  if (offset + perPage > MAX_NUMBERED_OBJECTS)
    return new Failure(
      'invalid_parameter',
      `page reaches past the first ${MAX_NUMBERED_OBJECTS} objects; walk further with after=<guid>`,
    );
  return { number: page ?? 0, perPage, offset, after };
}

export function envelope<Row, View>(page: Page, result: PageOf<Row>, view: (row: Row) => View) {
  return {
    total: result.total,
    page: page.number,
    per_page: page.perPage,
    objects: result.rows.map(view),
    ...(result.next === undefined ? {} : { next: result.next }),
  };
}
