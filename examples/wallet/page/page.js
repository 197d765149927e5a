import { element, format, labelOf, renderTransfer, timeOf } from './transfers.js';

const find = (id) => document.getElementById(id);
const form = document.querySelector('form');
const [source, destination, amount, fails] = ['source', 'destination', 'amount', 'fails'].map(find);

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

let key = crypto.randomUUID();
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const [units, cents = ''] = amount.value.split('.');
  const order = {
    key,
    amount: `${units}${cents.padEnd(2, '0')}`.replace(/^0+(?=\d)/, ''),
    source_account_guid: source.value,
    destination_account_guid: destination.value,
    fails: fails.checked,
  };
  const button = form.querySelector('button');
  button.disabled = true;
  find('error').textContent = '';
  try {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch('/transfers', { method: 'POST', headers, body: JSON.stringify(order) });
    if (response.status >= 500) throw new Error((await response.json()).message);
    key = crypto.randomUUID();
    if (!response.ok) find('error').textContent = (await response.json()).message;
    else {
      amount.value = '';
      fails.checked = false;
    }
  } catch (error) {
    // The key stays the same, so another try moves the money once, also if the first one arrived.
    find('error').textContent = `Not confirmed: ${error.message}. Try again.`;
  } finally {
    button.disabled = false;
    amount.focus();
  }
});
