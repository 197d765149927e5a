import './organization/partner-journey.spec.ts';
import './organization/audit.spec.ts';
import './organization/files.spec.ts';
import './organization/onboarding.spec.ts';
import './organization/organization.spec.ts';
import './organization/roles.spec.ts';
import './organization/sandbox.spec.ts';
import './organization/team.spec.ts';
