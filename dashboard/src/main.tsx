import './styles.ts'
import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { readEarly } from './client/first-readings.ts'
import { createQueries, pause } from './client/queries.ts'
import { forgetOrganization } from './client/window-organization.ts'
import { router } from './routes.tsx'
import { theme } from './theme.ts'

/** Pages that are open to those who have not signed in. */
const isOpenPage = (path: string): boolean => /^\/(?:login$|setup$|invite\/)/.test(path)

const queries = createQueries(() => {
  const { pathname, searchStr } = router.state.location
  if (isOpenPage(pathname)) return
  queries.clear()
  forgetOrganization()
  void router.navigate({ to: '/login', search: { next: `${pathname}${searchStr}` }, replace: true })
})

/** The first drawing waits this long for the page's program and its first answers; then it says that it is loading. */
const firstWaitMs = 300

const place = document.getElementById('root')
if (!place) throw new Error('The page has no place for the application.')
// What was asked for early is there by now, or soon: the page is drawn once, with it.
await Promise.race([Promise.allSettled([router.load(), ...readEarly(queries)]), pause(firstWaitMs)])
createRoot(place).render(
  <StrictMode>
    <MantineProvider theme={theme} defaultColorScheme="auto">
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
)
