/**
 * The organization that this window shows. Every request names it, so that nothing that is asked for here is done in
 * another one that another window has opened since: the service refuses that, and this window begins anew.
 */
let shown: string | undefined
let isLeaving = false

/** Kept for this window, over a load of the page. */
const noticeKey = 'outdial-organization-changed'
const openingKey = 'outdial-organization-opening'
/** A page that was loaded while an organization was being opened opens it first, if it was so recent. */
const maxOpeningMs = 15_000

export const shownOrganization = (): string | undefined => shown

/** From the first answer on that says which one the session looks at. */
export const showOrganization = (id: string): void => {
  shown ??= id
}

/** Whoever signs in next may look at another one. */
export const forgetOrganization = (): void => {
  shown = undefined
}

/** Another window opened another organization: this window shows that one as well, and says so. */
export const beginAnew = (): void => {
  if (isLeaving) return
  sessionStorage.setItem(noticeKey, '1')
  leaveTo(sectionOf(window.location.pathname))
}

/** Shows the organization that this window has opened; nothing of the one before stays on the page. */
export const showOpened = (): void => {
  sessionStorage.removeItem(openingKey)
  leaveTo('/')
}

const leaveTo = (path: string): void => {
  isLeaving = true
  window.location.assign(path)
}

/** A path without what belongs to one organization: `/calls` of a call's page. */
const sectionOf = (path: string): string => path.replace(/\/[0-9a-f-]{36}(?:\/.*)?$/, '') || '/'

/** Whether this page was loaded because another window had opened another organization; once. */
export const takeNotice = (): boolean => {
  const isDue = sessionStorage.getItem(noticeKey) !== null
  sessionStorage.removeItem(noticeKey)
  return isDue
}

export const noteOpening = (id: string): void =>
  sessionStorage.setItem(openingKey, JSON.stringify({ id, atMs: Date.now() }))

export const forgetOpening = (): void => sessionStorage.removeItem(openingKey)

/** The organization whose opening a load of the page has interrupted; once. */
export const takeOpening = (): string | undefined => {
  const text = sessionStorage.getItem(openingKey)
  sessionStorage.removeItem(openingKey)
  if (text === null) return undefined
  const { id, atMs } = JSON.parse(text) as { id: string; atMs: number }
  return Date.now() - atMs < maxOpeningMs ? id : undefined
}
