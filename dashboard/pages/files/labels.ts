import type { StoredFile } from '../../api/types.ts';

export const TYPE_LABELS: Readonly<Record<string, string>> = {
  drivers_license_front: "Driver's license, front",
  drivers_license_back: "Driver's license, back",
  drivers_license: "Driver's license",
  passport: 'Passport',
  passport_card: 'Passport card',
  visa: 'Visa',
  identification_card: 'Identification card',
  residence_card: 'Residence card',
  work_permit: 'Work permit',
  selfie: 'Selfie',
  selfie_video: 'Selfie video',
  utility_bill: 'Utility bill',
  proof_of_address: 'Proof of address',
  bank_statement: 'Bank statement',
  property_tax: 'Property tax statement',
  tax_document: 'Tax document',
  ein_letter: 'EIN letter',
  incorporation_certificate: 'Certificate of incorporation',
  invoice: 'Invoice',
  purchase_order: 'Purchase order',
  contract: 'Contract',
  bill_of_lading: 'Bill of lading',
  other: 'Other',
};

export function typeLabel(type: string): string {
  return TYPE_LABELS[type] ?? type.replaceAll('_', ' ');
}

export function formatBytes(size: number): string {
  if (size < 1024) return `${size} B`;
  const units = ['KB', 'MB', 'GB'];
  const power = Math.min(units.length, Math.floor(Math.log2(size) / 10));
  return `${(size / 1024 ** power).toFixed(power === 1 ? 0 : 1)} ${units[power - 1]}`;
}

export const FAILURE_LABELS: Readonly<Record<NonNullable<StoredFile['failure_code']>, string>> = {
  upload_expired: 'Not uploaded before the upload URL expired',
  content_type_mismatch: 'The content does not match the declared type',
  infected: 'Rejected by the virus scan',
  empty: 'The file is empty',
  too_large: 'The file is too large',
};

export function failureLabel({ failure_code: code }: StoredFile): string | undefined {
  return code && (FAILURE_LABELS[code] ?? code);
}
