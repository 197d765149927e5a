import './accessibility/empty-states.spec.ts';
import './accessibility/pages.spec.ts';
import './accessibility/rotation-dialogs.spec.ts';
