/** In the order of the reference page. */
const TAGS: Readonly<Record<string, string>> = {
  Tokens: 'Access tokens: issue, introspect and revoke them, and verify them with the published keys.',
  Applications: 'Key pairs (`client_id` and `client_secret`) of the Organization and of its Banks.',
  Organizations: 'The Organization of the token.',
  Banks: 'The Banks of the Organization.',
  Customers: 'The people and businesses that a Bank serves.',
  Accounts: 'Fiat, trading, reserve, storage, fee and gas accounts.',
  Prices: 'Assets, symbols and their current prices.',
  Quotes: 'Offers of a price for 30 seconds, for one trade or transfer.',
  Trades: 'Purchases and sales of an asset.',
  Transfers: 'Movements of money between accounts.',
  'Identity verifications': 'Identity and bank account checks of a customer.',
  Plans: 'Planned movements of money between two accounts.',
  Executions: 'Executions of completed plans.',
  'External bank accounts': 'Bank accounts of a customer outside the platform.',
  'Deposit addresses': 'Addresses at which an account receives crypto.',
  Workflows: 'Multi-step processes of a customer.',
  Files: 'Documents of a customer: create, upload and download them.',
  Subscriptions: 'Webhook subscriptions: the endpoints that receive events.',
  Events: 'Changes to objects of the Organization, kept for the retention period.',
  'Event types': 'Requests that the endpoints of your subscriptions receive, one for each event type.',
  Deliveries: 'Deliveries of events to subscriptions: attempts, redelivery and statistics.',
  Alerts:
    'What needs attention: failing endpoints, changes of keys and team, denied calls. Emails and Slack.',
  Inboxes: 'Endpoints in the sandbox that Portico hosts, and what they received in the last 24 hours.',
  'Request log': 'Calls of the Organization to this API in the last 7 days.',
  Team: 'Members of the Organization, their roles and the audit log.',
  Dashboard: 'Session endpoints of the dashboard. They need the session cookie.',
  Health: 'Liveness, readiness and metrics of a process.',
  'Operator: organizations': 'Organizations of partners.',
  'Operator: banks': 'Banks of any Organization.',
  'Operator: applications': 'Key pairs of any partner.',
  'Operator: members': 'Members of any Organization.',
  'Operator: objects': 'State reports of the core platform about its objects.',
  'Operator: prices': 'Price reports of the core platform.',
  'Operator: events': 'Events of the core platform.',
  'Operator: subscriptions': 'Webhook subscriptions of any partner.',
  'Operator: keys': 'Rotation of the signing key and the master key.',
  'Operator: audit': 'The audit log of all Organizations.',
};

export function describeTags(used: ReadonlySet<string>): { name: string; description: string }[] {
  const unknown = used.difference(new Set(Object.keys(TAGS)));
  if (unknown.size > 0) throw new Error(`No description for the tags ${[...unknown].join(', ')}`);
  return Object.entries(TAGS)
    .filter(([name]) => used.has(name))
    .map(([name, description]) => ({ name, description }));
}
