import type { SandboxObject } from '../../../api/types.ts';
import { LabeledValue } from '../../../shared/page/LabeledValue.tsx';
import { ObjectLink } from '../../../shared/text/ObjectLink.tsx';
import { useCustomerNames } from '../../../shared/text/use-customer-names.ts';
import { BankName } from '../../events/BankName.tsx';

/** Fields that always refer to the same type; accounts of plans and executions can be external. */
const REFERENCES: readonly (readonly [field: string, type: string, label: string])[] = [
  ['quote_guid', 'quote', 'Quote'],
  ['plan_guid', 'plan', 'Plan'],
  ['account_guid', 'account', 'Account'],
  ['external_bank_account_guid', 'external_bank_account', 'External bank account'],
];

/** The objects that an object belongs or refers to. */
export function References({ object }: { object: SandboxObject }) {
  const { customer_guid: customer, bank_guid: bank } = object;
  const names = useCustomerNames(customer === undefined ? [] : [customer]);
  return (
    <>
      <LabeledValue label="Bank">
        <BankName guid={bank} />
      </LabeledValue>
      {customer === undefined ? null : (
        <LabeledValue label="Customer">
          <ObjectLink type="customer" guid={customer} label={names.get(customer)} />
        </LabeledValue>
      )}
      {REFERENCES.map(([field, type, label]) =>
        typeof object[field] === 'string' ? (
          <LabeledValue key={field} label={label}>
            <ObjectLink type={type} guid={object[field]} />
          </LabeledValue>
        ) : null,
      )}
    </>
  );
}
