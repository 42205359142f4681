import type { AnswerOf } from '../../client/table.ts'
import { useHeardWords } from '../../client/words.ts'
import { AnchorLink } from '../../parts/anchor-link.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { Elapsed } from './elapsed.tsx'
import { whyNotHeard } from './listening.tsx'

export type LiveCall = AnswerOf<'listLiveCalls'>['data'][number]

interface ColumnOptions {
  readonly onHangUp: (call: LiveCall) => void
  readonly onListen: (call: LiveCall) => void
  readonly operates: boolean
}

const nameOf = ({ contact_name: name, contact_id: id }: LiveCall): string => name ?? id

/** The columns of the list. Words are drawn by themselves, so that one that comes draws one cell. */
export const liveColumns = ({ onHangUp, onListen, operates }: ColumnOptions) => [
  {
    name: 'Contact',
    width: '9rem',
    cell: (call: LiveCall) => (
      <AnchorLink to="/calls/$callId" params={{ callId: call.id }}>
        {nameOf(call)}
      </AnchorLink>
    ),
  },
  {
    name: 'Agent',
    width: '8rem',
    cell: ({ agent_name: name, agent_id: id }: LiveCall) => name ?? id,
  },
  {
    name: 'State',
    width: '7rem',
    cell: (call: LiveCall) => <StatusBadge status={call.is_ending ? 'ending' : call.status} />,
  },
  {
    name: 'Length',
    width: '4.5rem',
    cell: (call: LiveCall) => <Elapsed since={call.connected_at ?? call.dialing_at} />,
  },
  { name: 'Last words', width: '21rem', cell: (call: LiveCall) => <LastWords call={call} /> },
  {
    name: 'Actions',
    width: '12rem',
    cell: (call: LiveCall) => (
      <span className="row-buttons">
        <RowButton
          label="Listen"
          what={`Listen to the call to ${nameOf(call)}`}
          why={whyNotHeard(call, operates)}
          onClick={() => onListen(call)}
        />
        <RowButton
          label="Hang up"
          what={`Hang up the call to ${nameOf(call)}`}
          why={whyNotEnded(call, operates)}
          onClick={() => onHangUp(call)}
        />
      </span>
    ),
  },
  { name: 'Number', width: '9rem', cell: ({ phone_number: number }: LiveCall) => number ?? '–' },
  {
    name: 'Carried by',
    width: '9rem',
    cell: ({ is_here: isHere, node }: LiveCall) =>
      isHere ? (node ?? 'this node') : (node ?? 'another node'),
  },
]

const whyNotEnded = ({ is_ending: isEnding }: LiveCall, operates: boolean): string | undefined => {
  if (!operates) return 'For operators and administrators.'
  return isEnding ? 'The call is ending.' : undefined
}

interface RowButtonProps {
  readonly label: string
  /** Its name, because each row has one of this label. */
  readonly what: string
  readonly why: string | undefined
  readonly onClick: () => void
}

const RowButton = ({ label, what, why, onClick }: RowButtonProps) => (
  <button
    type="button"
    className="row-button"
    aria-label={what}
    disabled={why !== undefined}
    title={why}
    onClick={onClick}
  >
    {label}
  </button>
)

/** What the agent says now, else the newest turn: by the stream, else by the list. */
const LastWords = ({ call }: { call: LiveCall }) => {
  const heard = useHeardWords(call.id)
  const newest = heard?.turns.at(-1)
  const turn =
    newest && newest.sequence >= (call.last?.sequence ?? 0) ? newest : (call.last ?? undefined)
  if (heard?.speaking) return <Line speaker="agent" text={heard.speaking.text} />
  return turn ? <Line speaker={turn.speaker} text={turn.text} /> : '–'
}

const Line = ({ speaker, text }: { speaker: string; text: string }) => (
  <span title={text}>
    <b>{speaker === 'contact' ? 'callee' : speaker}</b> {text}
  </span>
)
