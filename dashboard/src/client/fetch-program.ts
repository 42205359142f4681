/** When this tab was loaded anew for a missing program, and that the new page has yet to say so. */
const reloadedAt = 'outdial-reloaded-at'
const reloadedUnsaid = 'outdial-reloaded-unsaid'
/** Once in a while only: where a program stays away, the page says what failed. */
const minReloadGapMs = 60_000

/** Loads the page anew, with the programs of the newest build; false if that was tried just now. */
const reloadOnce = (): boolean => {
  if (Date.now() - Number(sessionStorage.getItem(reloadedAt)) < minReloadGapMs) return false
  sessionStorage.setItem(reloadedAt, String(Date.now()))
  sessionStorage.setItem(reloadedUnsaid, 'yes')
  window.location.reload()
  return true
}

/**
 * The program of a page or part, fetched when it is shown. After an update of the service the one of the older build is
 * gone: then the page is loaded anew, once.
 */
export const fetchProgram = async <Program>(load: () => Promise<Program>): Promise<Program> => {
  try {
    return await load()
  } catch (error) {
    if (!reloadOnce()) throw error
    // The page goes away now.
    return new Promise<never>(() => {})
  }
}

/** Whether this page was loaded anew because of an update; says so once. */
export const takeReloadNotice = (): boolean => {
  const isUnsaid = sessionStorage.getItem(reloadedUnsaid) !== null
  sessionStorage.removeItem(reloadedUnsaid)
  return isUnsaid
}
