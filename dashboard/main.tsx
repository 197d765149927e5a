// In a layer, so that the stylesheets of pages win whatever the order in which the build links them.
import '@mantine/core/styles.layer.css';
import '@mantine/notifications/styles.layer.css';
import './app/global.css';
import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { setNonce } from 'get-nonce';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { router } from './app/router.tsx';
import { cssVariables, theme } from './app/theme.ts';
import { createServices, ServicesContext } from './session/services.ts';
import { NowProvider } from './shared/time/NowProvider.tsx';

const services = createServices();
const colorScheme = localStorageColorSchemeManager({ key: 'portico.color-scheme' });
const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';
// react-remove-scroll, which locks scrolling behind dialogs, takes the nonce for its styles from here.
setNonce(nonce);

createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      defaultColorScheme="auto"
      colorSchemeManager={colorScheme}
      getStyleNonce={() => nonce}
    >
      <Notifications position="bottom-right" />
      <ServicesContext value={services}>
        <QueryClientProvider client={services.queries}>
          <NowProvider>
            <RouterProvider router={router} />
          </NowProvider>
        </QueryClientProvider>
      </ServicesContext>
    </MantineProvider>
  </StrictMode>,
);
