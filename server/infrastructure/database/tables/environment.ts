export type EnvironmentName = 'production' | 'sandbox';
