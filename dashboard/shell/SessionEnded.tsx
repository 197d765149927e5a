import { Center, getDefaultZIndex, Modal, Stack } from '@mantine/core';
import type { Session } from '../api/types.ts';
import { LoginForm } from '../auth/LoginForm.tsx';
import { SESSION_KEY, useServices } from '../session/services.ts';
import { replaceSession } from '../session/session.ts';

/** Hides the page until the user logs in again, without unmounting it: a form keeps its input. */
export function SessionEnded({ member }: { member: Session['member'] }) {
  const services = useServices();
  const resume = (session: Session) => {
    if (session.member.guid === member.guid) services.queries.setQueryData(SESSION_KEY, session);
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
