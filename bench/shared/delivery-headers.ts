/** The headers of a delivery, for senders that do not sign. */
export const DELIVERY_HEADERS = {
  'content-type': 'application/json',
  'user-agent': 'Portico-Webhooks/0.1.0',
  'x-service-signature': '0'.repeat(64),
  'webhook-id': '0'.repeat(32),
  'webhook-timestamp': '1794744000',
  'webhook-signature': `v1,${'0'.repeat(43)}=`,
};
