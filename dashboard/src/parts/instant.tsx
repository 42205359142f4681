import { createContext, use } from 'react'

export const browserZone = Intl.DateTimeFormat().resolvedOptions().timeZone

/** The zone that instants are shown in: the organization's, else the browser's. */
export const ZoneContext = createContext(browserZone)

/** An instant in the organization's zone; UTC as one points at it. */
export const Instant = ({ at }: { at: string | undefined }) => {
  const timeZone = use(ZoneContext)
  if (at === undefined) return <>–</>
  return (
    <time dateTime={at} title={`${at.replace('T', ' ').replace(/\.\d+Z$/, '')} UTC`}>
      {formatInstant(at, timeZone)}
    </time>
  )
}

export const formatInstant = (at: string, timeZone: string): string =>
  new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short', timeZone }).format(
    new Date(at),
  )

/** `1:04:09` or `4:09`. */
export const formatLength = (seconds: number): string => {
  const hours = Math.floor(seconds / 3600)
  const minutes = Math.floor((seconds % 3600) / 60)
  const rest = String(Math.floor(seconds % 60)).padStart(2, '0')
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`
}
