import './styles.ts'
import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { createQueries } from './client/queries.ts'
import { router } from './routes.tsx'
import { theme } from './theme.ts'

/** Pages that are open to those who have not signed in. */
const isOpenPage = (path: string): boolean => /^\/(?:login$|setup$|invite\/)/.test(path)

const queries = createQueries(() => {
  const { pathname, searchStr } = router.state.location
  if (isOpenPage(pathname)) return
  queries.clear()
  void router.navigate({ to: '/login', search: { next: `${pathname}${searchStr}` }, replace: true })
})

// A page's program of an older build is gone after an update: the page is loaded anew, with the new one.
// Once in a while only: where the file stays away, the page says what failed.
const reloadedAt = 'outdial-reloaded-at'
const minReloadGapMs = 60_000
window.addEventListener('vite:preloadError', (event) => {
  if (Date.now() - Number(sessionStorage.getItem(reloadedAt)) < minReloadGapMs) return
  event.preventDefault()
  sessionStorage.setItem(reloadedAt, String(Date.now()))
  window.location.reload()
})

const place = document.getElementById('root')
if (!place) throw new Error('The page has no place for the application.')
createRoot(place).render(
  <StrictMode>
    <MantineProvider theme={theme} defaultColorScheme="auto">
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
)
