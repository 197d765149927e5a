import './access/account.spec.ts';
import './access/identity-proof.spec.ts';
import './access/login.spec.ts';
import './access/page-loading.spec.ts';
import './access/sessions.spec.ts';
