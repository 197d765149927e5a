/** Accepted values of `type` (contract, section 8). */
export const FILE_TYPES = [
  'drivers_license_front',
  'drivers_license_back',
  'drivers_license',
  'passport',
  'passport_card',
  'visa',
  'identification_card',
  'residence_card',
  'work_permit',
  'selfie',
  'selfie_video',
  'utility_bill',
  'proof_of_address',
  'bank_statement',
  'property_tax',
  'tax_document',
  'ein_letter',
  'incorporation_certificate',
  'invoice',
  'purchase_order',
  'contract',
  'bill_of_lading',
  'other',
];

/** Accepted values of `content_type`. */
export const CONTENT_TYPES: readonly string[] = [
  'image/jpeg',
  'image/png',
  'application/pdf',
  'application/json',
  'video/mp4',
];
