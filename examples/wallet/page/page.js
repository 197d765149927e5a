import { element, format, labelOf, renderTransfer, timeOf } from './transfers.js';

const find = (id) => document.getElementById(id);
const form = document.querySelector('form');
const fields = ['source', 'destination', 'amount', 'fails'].map(find);
const [source, destination, amount, fails] = fields;

let accounts = [];
/** Rows by guid with the data that they show: a row that did not change stays, so that only changes are animated. */
let shown;
const nameOf = (guid) => accounts.find((account) => account.guid === guid)?.name ?? 'Another account';

function showAccounts(found) {
  const before = new Map(accounts.map(({ guid, balance }) => [guid, balance]));
  accounts = found;
  const cards = accounts.map(({ guid, name, balance }) =>
    element(
      'li',
      { className: before.size > 0 && before.get(guid) !== balance ? 'account changed' : 'account' },
      element('span', { textContent: name }),
      element('strong', { textContent: format(balance) }),
    ),
  );
  find('accounts').replaceChildren(...cards);
  if (source.options.length > 0) return;
  for (const select of [source, destination])
    select.append(...accounts.map(({ guid, name }) => new Option(name, guid)));
  destination.selectedIndex = 1;
}

function showTransfers(entries) {
  find('no-transfers').hidden = entries.length > 0;
  const rows = new Map();
  for (const entry of entries) {
    const { guid, amount, state } = entry.transfer;
    const data = JSON.stringify(entry);
    const known = shown?.get(guid);
    const isChanged = known?.data !== data;
    rows.set(guid, isChanged ? { data, row: renderTransfer(entry, nameOf) } : known);
    if (shown && isChanged)
      find('announcement').textContent = `Transfer of ${format(amount)}: ${labelOf(state)}`;
  }
  shown = rows;
  find('transfers').replaceChildren(...[...rows.values()].map(({ row }) => row));
}

function showEvents(events) {
  find('no-events').hidden = events.length > 0;
  const rows = events.map(({ event_type, at }) =>
    element(
      'li',
      {},
      element('code', { textContent: event_type }),
      element('time', { dateTime: at, textContent: timeOf(at) }),
    ),
  );
  find('events').replaceChildren(...rows);
}

function showConnection(state, text) {
  const connection = find('connection');
  connection.dataset.state = state;
  connection.textContent = text;
}

// The browser connects again by itself, and the first message has everything.
const live = new EventSource('/live');
live.addEventListener('open', () => showConnection('live', 'Live'));
live.addEventListener('error', () => showConnection('lost', 'Connecting again'));
live.addEventListener('message', ({ data }) => {
  const { accounts, transfers, events } = JSON.parse(data);
  showAccounts(accounts);
  showTransfers(transfers);
  showEvents(events);
});

// Two accounts: choosing one for both sides swaps them.
for (const [changed, other] of [
  [source, destination],
  [destination, source],
])
  changed.addEventListener('change', () => {
    if (changed.value === other.value)
      other.selectedIndex = (changed.selectedIndex + 1) % changed.options.length;
  });

/** With these statuses an order is refused: it was not created, and never will be. */
const REFUSED = [400, 404, 422];
/** An order that was sent, until it is created or refused. Another try sends it as it was, so that money moves once. */
let order;

function readOrder() {
  const [units, cents = ''] = amount.value.split('.');
  return {
    key: crypto.randomUUID(),
    amount: `${units}${cents.padEnd(2, '0')}`.replace(/^0+(?=\d)/, ''),
    source_account_guid: source.value,
    destination_account_guid: destination.value,
    fails: fails.checked,
  };
}

/** The reason of a refusal; undefined if the order was created. */
async function send(order) {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch('/transfers', { method: 'POST', headers, body: JSON.stringify(order) });
  if (response.ok) return undefined;
  const { message } = await response.json();
  if (!REFUSED.includes(response.status)) throw new Error(message);
  return message;
}

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  order ??= readOrder();
  const button = form.querySelector('button');
  for (const control of [...fields, button]) control.disabled = true;
  find('error').textContent = '';
  try {
    const refusal = await send(order);
    order = undefined;
    if (refusal !== undefined) find('error').textContent = refusal;
    else {
      amount.value = '';
      fails.checked = false;
    }
  } catch (error) {
    find('error').textContent = `Not confirmed: ${error.message}. Try again: the money moves once.`;
  } finally {
    button.disabled = false;
    // An order that is not confirmed cannot be changed.
    for (const field of fields) field.disabled = order !== undefined;
    (order ? button : amount).focus();
  }
});
