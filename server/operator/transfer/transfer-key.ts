/** Apart from the routes, because the command line is an HTTP client that loads no server. */
export const TRANSFER_KEY_HEADER = 'portico-transfer-key';
