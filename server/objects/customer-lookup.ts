import type { Objects, Visible } from './service.ts';

export type { ObjectRow as Customer, Visible } from './service.ts';
export type Customers = ReturnType<typeof createCustomers>;

/** The customers among the objects: whom tokens and files are about. */
export function createCustomers({ objects }: { objects: Objects }) {
  return {
    get: (visible: Visible, guid: string) => objects.get(visible, 'customer', guid),

    /** On the reserved connections: for the token endpoint. */
    getReserved: (visible: Visible, guid: string) =>
      objects.get(visible, 'customer', guid, { reserved: true }),
  };
}
