import type { Config } from '../../config/read-config.ts'
import { failed, ok, warning, type Finding } from './finding.ts'
import { httpOrigin } from '../../http/http-origin.ts'
import { portTrials } from '../port-trials.ts'
import { explainStartError, problemOfSharedPort, type StartConfig } from '../explain-start-error.ts'

const healthLimitMs = 5_000

/** Checks that a start would get its ports. A running Outdial may hold them. */
export const checkPorts = async (config: StartConfig): Promise<Finding> => {
  const shared = problemOfSharedPort(config)
  if (shared !== undefined) return failed('ports', shared)
  const taken: string[] = []
  for (const { setting, port, take } of portTrials(config)) {
    const fault = await faultOf(take())
    if (fault === undefined) continue
    if (fault.code !== 'EADDRINUSE') return failed('ports', sentenceOf(fault, config))
    taken.push(`${port} (${setting})`)
  }
  if (taken.length === 0) return ok('ports', 'The ports are free.')
  return (await isOutdial(config.http))
    ? ok('ports', `Outdial is running on them: ${taken.join(', ')}.`)
    : warning(
        'ports',
        `In use by another program: ${taken.join(', ')}. Stop it, or set other ports.`,
      )
}

const faultOf = (taken: Promise<void>): Promise<NodeJS.ErrnoException | undefined> =>
  taken.then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error,
  )

const sentenceOf = (fault: NodeJS.ErrnoException, config: StartConfig): string => {
  const explained = explainStartError(fault, config)
  return explained instanceof Error ? explained.message : fault.message
}

const isOutdial = async ({ host, apiPort }: Config['http']): Promise<boolean> => {
  const url = `${httpOrigin(host, apiPort)}/healthz`
  const answer = await fetch(url, { signal: AbortSignal.timeout(healthLimitMs) }).catch(
    () => undefined,
  )
  return answer?.headers.get('service-version') != null
}
