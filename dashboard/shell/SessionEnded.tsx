import { Center, getDefaultZIndex, Modal, Stack } from '@mantine/core';
import type { Session } from '../api/types.ts';
import { LoginForm } from '../auth/LoginForm.tsx';
import { useServices } from '../session/services.ts';
import { replaceSession, resumeSession } from '../session/session.ts';
import { useReturnFocus } from '../shared/forms/use-return-focus.ts';

/** Hides the page until the user logs in again, without unmounting it: a form keeps its input. */
export function SessionEnded({ member }: { member: Session['member'] }) {
  useReturnFocus();
  const services = useServices();
  const resume = (session: Session) => {
    if (session.member.guid === member.guid) resumeSession(services, session);
    else replaceSession(services, session);
  };
  return (
    <Modal
      opened
      fullScreen
      title="Log in"
      zIndex={getDefaultZIndex('overlay')}
      withCloseButton={false}
      closeOnEscape={false}
      onClose={() => undefined}
    >
      <Center>
        <Stack w="100%" maw={400}>
          <LoginForm hasEnded email={member.email} onSuccess={resume} />
        </Stack>
      </Center>
    </Modal>
  );
}
