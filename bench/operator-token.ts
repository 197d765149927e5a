export const OPERATOR_TOKEN = 'the-operator-token-of-the-benchmark';
