import { httpOrigin } from '../http/http-origin.ts'

interface DashboardPlace {
  readonly publicUrl: string | undefined
  readonly host: string
  readonly port: number
}

/**
 * The origins under which browsers on their way to the dashboard name it, the one of its links first: the public one, else
 * those of this machine.
 */
export const dashboardOrigins = ({
  publicUrl,
  host,
  port,
}: DashboardPlace): readonly [string, ...string[]] => {
  if (publicUrl !== undefined) return [new URL(publicUrl).origin]
  const own = new URL(httpOrigin(host, port))
  const names = { '127.0.0.1': 'localhost', '[::1]': 'localhost' } as const
  const other = names[own.hostname as keyof typeof names]
  return other === undefined ? [own.origin] : [own.origin, `http://${other}:${port}`]
}
