import type { Account, NewTransfer, Portico, Transfer } from '../../sdk/src/index.ts';

/** Finds the customer of an earlier start. */
const LABEL = 'wallet-example';
const ACCOUNTS = [
  { name: 'Checking', balance: 120_000 },
  { name: 'Savings', balance: 45_000 },
];
export const SHOWN_TRANSFERS = 10;

export type Wallet = Awaited<ReturnType<typeof openWallet>>;
export type Order = Required<
  Pick<NewTransfer, 'amount' | 'source_account_guid' | 'destination_account_guid'>
> & {
  /** Made by the page once for each order, so that an order that is sent twice moves money once. */
  key: string;
  /** Sandbox only: lets the transfer fail. */
  fails?: boolean;
};

/** The accounts of one customer. In your program: of the customer who is logged in. */
export async function openWallet(portico: Portico) {
  const [bank] = await portico.banks.list().toArray({ limit: 1 });
  if (!bank) throw new Error('This key pair has no bank. Create one in the dashboard.');
  const bank_guid = bank.guid;
  const [known] = await portico.customers.list({ bank_guid, label: LABEL }).toArray({ limit: 1 });
  const customer =
    known ??
    (await portico.customers.create({
      type: 'individual',
      name: 'Ada Lovelace',
      bank_guid,
      labels: [LABEL],
    }));
  const customer_guid = customer.guid;

  async function accounts(): Promise<Account[]> {
    const found = await portico.accounts.list({ customer_guid }).toArray({ limit: ACCOUNTS.length });
    return found.sort((a, b) => String(a.name).localeCompare(String(b.name)));
  }

  const names = new Set((await accounts()).map(({ name }) => name));
  for (const { name, balance } of ACCOUNTS)
    if (!names.has(name))
      await portico.accounts.create({ type: 'fiat', asset: 'USD', name, balance, customer_guid, bank_guid });

  return {
    bankGuid: bank_guid,
    customerGuid: customer_guid,
    accounts,
    transfers: () => portico.transfers.list({ customer_guid }).toArray({ limit: SHOWN_TRANSFERS }),

    /** Undefined if the transfer is another customer's. */
    async transfer(guid: string): Promise<Transfer | undefined> {
      const transfer = await portico.transfers.get(guid);
      return transfer.customer_guid === customer_guid ? transfer : undefined;
    },

    async send({ key, fails, amount, source_account_guid, destination_account_guid }: Order) {
      const own = new Set((await accounts()).map(({ guid }) => guid));
      // The key may use the accounts of every customer, the page only its own.
      if (!own.has(source_account_guid) || !own.has(destination_account_guid)) return undefined;
      return portico.transfers.create(
        {
          ...{ transfer_type: 'book', asset: 'USD', amount, customer_guid, bank_guid },
          ...{ source_account_guid, destination_account_guid },
          ...(fails && { simulate: 'failed' }),
        },
        { idempotencyKey: key },
      );
    },
  };
}
