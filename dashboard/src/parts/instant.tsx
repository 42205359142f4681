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
  formatOf('short', timeZone).format(new Date(at))

/** With its seconds. */
export const formatInstantExactly = (at: string, timeZone: string): string =>
  formatOf('medium', timeZone).format(new Date(at))

/** Making a format costs a hundred times what using it does, and a list has one for each row. */
const formats = new Map<string, Intl.DateTimeFormat>()
const maxFormats = 100

const formatOf = (timeStyle: 'short' | 'medium', timeZone: string): Intl.DateTimeFormat => {
  const key = `${timeStyle} ${timeZone}`
  const known = formats.get(key)
  if (known) return known
  if (formats.size >= maxFormats) formats.clear()
  const made = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle, timeZone })
  formats.set(key, made)
  return made
}

/** `1:04:09` or `4:09`. */
export const formatLength = (seconds: number): string => {
  const hours = Math.floor(seconds / 3600)
  const minutes = Math.floor((seconds % 3600) / 60)
  const rest = String(Math.floor(seconds % 60)).padStart(2, '0')
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`
}
