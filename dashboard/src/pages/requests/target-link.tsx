import type { AnswerOf } from '../../client/table.ts'
import { AnchorLink } from '../../parts/anchor-link.tsx'

type Request = AnswerOf<'listApiRequests'>['data'][number]

/** A link to the call, batch, run or contact that a request made or was about. */
export const TargetLink = ({ target, made }: Pick<Request, 'target' | 'made'>) => {
  if (!target) return <>–</>
  const text = `${made ? 'made ' : ''}${target.type.replaceAll('_', ' ')} ${target.id.slice(-6)}`
  const { id } = target
  switch (target.type) {
    case 'call':
      return (
        <AnchorLink to="/calls/$callId" params={{ callId: id }}>
          {text}
        </AnchorLink>
      )
    case 'batch':
      return (
        <AnchorLink to="/batches/$batchId" params={{ batchId: id }}>
          {text}
        </AnchorLink>
      )
    case 'automation_run':
      return (
        <AnchorLink to="/runs/$runId" params={{ runId: id }}>
          {text}
        </AnchorLink>
      )
    case 'contact':
      return (
        <AnchorLink to="/contacts/$contactId" params={{ contactId: id }}>
          {text}
        </AnchorLink>
      )
    default:
      return <>{text}</>
  }
}
