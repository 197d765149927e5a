const STATES = {
  storing: 'Sent',
  pending: 'Pending',
  holding: 'On hold',
  reviewing: 'In review',
  completed: 'Completed',
  failed: 'Failed',
};
const ENDED = ['completed', 'failed'];
const currency = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });

export const labelOf = (state) => STATES[state] ?? state;
export const timeOf = (at) => clock.format(new Date(at));

/** From the smallest unit, as a text: an amount can exceed what a number represents exactly. */
export function format(amount) {
  const digits = String(amount ?? 0).padStart(3, '0');
  return currency.format(`${digits.slice(0, -2)}.${digits.slice(-2)}`);
}

export function element(name, properties = {}, ...children) {
  const created = Object.assign(document.createElement(name), properties);
  created.append(...children);
  return created;
}

/** The states that it reached, in order, and those that normally follow. */
function pathOf({ transfer, times }) {
  const reached = Object.keys(times).sort((a, b) => rank(a, times) - rank(b, times));
  if (ENDED.includes(transfer.state)) return reached;
  return [...reached, ...['reviewing', 'completed'].filter((state) => !reached.includes(state))];
}

/** The end comes last, also if its webhook was the first to arrive. */
function rank(state, times) {
  return state === 'storing'
    ? 0
    : ENDED.includes(state)
      ? Number.POSITIVE_INFINITY
      : Date.parse(times[state]);
}

export function renderTransfer(entry, nameOf) {
  const { guid, state, amount, source_account_guid, destination_account_guid } = entry.transfer;
  const steps = pathOf(entry).map((each) => {
    const at = entry.times[each];
    const name = element('span', { className: 'name', textContent: labelOf(each) });
    const step = element('li', {}, name);
    if (at) step.append(element('time', { dateTime: at, textContent: timeOf(at) }));
    step.dataset.step = each === state ? 'current' : at ? 'done' : 'next';
    if (each === state) step.ariaCurrent = 'step';
    return step;
  });
  const row = element(
    'li',
    { className: 'transfer' },
    element(
      'p',
      { className: 'what' },
      `${nameOf(source_account_guid)} to ${nameOf(destination_account_guid)}`,
    ),
    element('p', { className: 'amount', textContent: format(amount) }),
    element('ol', { className: 'steps', ariaLabel: 'States' }, ...steps),
  );
  row.dataset.guid = guid;
  row.dataset.state = state;
  return row;
}
