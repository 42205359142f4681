import type { Logger } from '../../../runtime/logger.ts'
import { createEventQueue } from '../../event-queue.ts'
import type { EngineUsage, SessionOptions, VoiceEvent, VoiceSession } from '../../voice-engine.ts'
import type { OpenedLink } from './open-link.ts'
import { createRealtimeLink, type LinkLoss, type RealtimeLink } from './realtime-link.ts'
import { createRecentFrames } from './recent-frames.ts'
import { createSessionHistory, cutOffNote, userMessage } from './session-history.ts'
import { createSpeechState } from './speech-state.ts'
import { createSuccessor } from './successor.ts'

export interface LastingSessionOptions {
  readonly first: OpenedLink
  /** Another session of the same settings. */
  openNext(signal: AbortSignal): Promise<OpenedLink>
  /** Instead of what is known of the server. */
  readonly sessionCapMs: number | undefined
  readonly reconnectLimitMs: number | undefined
  readonly options: SessionOptions
  readonly logger: Logger
}

const frameMs = 20
/** More than a minute of a talkative server that nobody listens to. */
const maxQueuedEvents = 4_000
/** Nobody waits longer on a telephone that has gone silent. */
const defaultReconnectLimitMs = 8_000
/** Sessions that break one soon after the other are not the network's fault. */
const maxReconnects = 5
const steadyAfterMs = 30_000
/** A server that took two sessions and answered in neither answers in none; by then the callee has heard nothing for long. */
const maxUnanswered = 2
/** Nobody has more to say than that while the line is gone; the oldest drops out. */
const maxWaitingTexts = 8
/** The next session is opened this long before the last one ends, or in the last tenth of a short one. */
const renewalMarginMs = 120_000
const renewalShare = 0.1
/** No silent moment came: the switch is made in the middle of speech after all. */
const forcedSwitchShare = 0.25
const renewalCheckFrames = 10
const g711BytesPerMs = 8
const quietMs = 300

interface Stage {
  readonly link: RealtimeLink
  readonly number: number
  readonly startedAt: number
  readonly endsAt: number
  readonly renewAt: number
}

/**
 * One conversation over as many sessions as it takes: the next one is opened before the server ends the present one, or
 * after the connection was lost, and is told what was said. The callee hears a short silence at most.
 */
export const createLastingSession = (lasting: LastingSessionOptions): VoiceSession => {
  const { options, logger } = lasting
  const queue = createEventQueue<VoiceEvent>(maxQueuedEvents)
  const history = createSessionHistory()
  const recent = createRecentFrames()
  const speech = createSpeechState()
  const closing = new AbortController()
  const linkOfTool = new Map<string, number>()
  const past: EngineUsage[] = []
  const waitingTexts: string[] = []
  const successor = createSuccessor({
    openNext: (signal) => lasting.openNext(signal),
    signal: closing.signal,
    callId: options.callId,
    logger,
  })
  let stages = 0
  let current: Stage | undefined
  let reconnects = 0
  let unanswered = 0
  let playedOutAtMs = 0
  let isOver = false
  let closed: Promise<EngineUsage> | undefined

  const heardMs = (): number => recent.count * frameMs

  const fail = ({ code, message }: Pick<LinkLoss, 'code' | 'message'>): void => {
    if (isOver) return
    isOver = true
    queue.push({ type: 'error', fatal: true, code, message })
    queue.end()
    closing.abort()
    successor.close()
  }

  const emit = (event: VoiceEvent): void => {
    history.take(event)
    if (event.type === 'audio') {
      unanswered = 0
      const length = event.g711.length / g711BytesPerMs
      playedOutAtMs = Math.max(playedOutAtMs, heardMs()) + length
    }
    if (queue.push(event) || isOver) return
    const stage = current
    current = undefined
    fail({ code: 'slow_consumer', message: 'Nobody takes the events.' })
    retire(stage)
  }

  /** Ids and times of a link are its own; the conversation's are unique and run on. */
  const onEvent = (number: number, startMs: number, event: VoiceEvent): void => {
    if (number !== stages || isOver) return
    switch (event.type) {
      case 'audio':
      case 'audio_end':
      case 'agent_text':
      case 'first_words':
        return emit({ ...event, utteranceId: `${number}.${event.utteranceId}` })
      case 'speech_start': {
        const atMs = speech.started(event.atMs + startMs)
        return atMs === undefined ? undefined : emit({ type: 'speech_start', atMs })
      }
      case 'speech_stop':
        speech.stopped(heardMs())
        return emit({ type: 'speech_stop', atMs: event.atMs + startMs })
      case 'contact_text':
        return emit({ ...event, startMs: speech.understood(event.startMs + startMs) })
      case 'tool_call':
        track(linkOfTool, event.id, number)
        return emit(event)
      case 'error':
        return emit(event)
    }
  }

  const start = (opened: OpenedLink, startMs: number): Stage => {
    const number = stages + 1
    stages = number
    const link = createRealtimeLink(
      opened,
      options,
      {
        onEvent: (event) => onEvent(number, startMs, event),
        onLost: (loss) => onLost(number, loss),
      },
      logger,
    )
    const capMs = lasting.sessionCapMs ?? opened.capMs ?? Infinity
    const now = performance.now()
    const marginMs = Math.min(renewalMarginMs, capMs * renewalShare)
    current = {
      link,
      number,
      startedAt: now,
      endsAt: now + capMs - marginMs * forcedSwitchShare,
      renewAt: now + capMs - marginMs,
    }
    return current
  }

  const retire = (stage: Stage | undefined): void => {
    if (!stage) return
    past.push(stage.link.usage())
    void stage.link.close()
  }

  /** Tells a new link what was said, lets it hear again what it has to, and has it go on. */
  const takeOver = (
    opened: OpenedLink,
    from: { frame: number; texts: readonly string[]; isCutOff: boolean },
  ): void => {
    const { link } = start(opened, from.frame * frameMs)
    link.remember(history.items(opened.dialect))
    if (from.isCutOff) link.remember([cutOffNote])
    for (const text of from.texts) link.say(text)
    if (from.isCutOff || (history.isAnswerOwed && from.texts.length === 0)) link.goOn()
    for (const frame of recent.since(from.frame)) link.hear(frame)
  }

  /**
   * The next session hears again what the last one said nothing of: speech that began and has no words yet, and
   * everything since its last sign of life, for a server tells at once when somebody speaks.
   */
  const whereItStood = (link: RealtimeLink) => {
    const openMs = speech.isQuiet(heardMs()) ? undefined : speech.openSinceMs
    const fromMs = Math.min(openMs ?? Infinity, heardMs() - link.silentForMs)
    const frame = Math.max(0, recent.oldest, Math.floor(fromMs / frameMs))
    return { frame, texts: link.unsaid, isCutOff: link.isSpeaking }
  }

  const onLost = (number: number, loss: LinkLoss): void => {
    if (number !== current?.number || isOver) return
    const broken = current
    current = undefined
    past.push(broken.link.usage())
    if (performance.now() - broken.startedAt > steadyAfterMs) reconnects = 0
    if (loss.code === 'response_timeout') unanswered += 1
    const isHopeless = reconnects >= maxReconnects || unanswered >= maxUnanswered
    if (loss.isFinal || isHopeless) return fail(loss)
    reconnects += 1
    void reconnect(broken, loss)
  }

  const reconnect = async (broken: Stage, loss: LinkLoss): Promise<void> => {
    const from = whereItStood(broken.link)
    if (speech.lost(heardMs())) emit({ type: 'speech_stop', atMs: heardMs() })
    const opened = await successor.take(lasting.reconnectLimitMs ?? defaultReconnectLimitMs)
    if (isOver) return opened?.socket.terminate()
    if (!opened) return fail(loss)
    logger.info({ call_id: options.callId, code: loss.code }, 'a voice engine session was replaced')
    const texts = [...from.texts, ...waitingTexts.splice(0)]
    takeOver(opened, { ...from, texts })
  }

  const isSilentMoment = (stage: Stage): boolean =>
    stage.link.isIdle && speech.isQuiet(heardMs()) && heardMs() >= playedOutAtMs + quietMs

  const watchRenewal = (stage: Stage): void => {
    const now = performance.now()
    if (now < stage.renewAt) return
    successor.prepare()
    if (!successor.isReady || !(isSilentMoment(stage) || now >= stage.endsAt)) return
    const opened = successor.takeReady()
    if (!opened) return
    const from = whereItStood(stage.link)
    current = undefined
    retire(stage)
    takeOver(opened, from)
  }

  const total = (): EngineUsage => {
    const all = current ? [...past, current.link.usage()] : past
    const sum = (member: keyof EngineUsage): number =>
      all.reduce((amount, usage) => amount + usage[member], 0)
    return {
      inputTokens: sum('inputTokens'),
      outputTokens: sum('outputTokens'),
      // Heard again does not count twice.
      audioInMs: heardMs(),
      audioOutMs: sum('audioOutMs'),
    }
  }

  const close = async (): Promise<EngineUsage> => {
    isOver = true
    queue.end()
    closing.abort()
    successor.close()
    await current?.link.close()
    return total()
  }

  start(lasting.first, 0)
  return {
    events: queue.events,
    hear(frame) {
      if (isOver) return
      recent.push(frame)
      if (!current) return
      current.link.hear(frame)
      if (recent.count % renewalCheckFrames === 0) watchRenewal(current)
    },
    say(text) {
      if (isOver) return
      if (current) current.link.say(text)
      else {
        waitingTexts.push(text)
        if (waitingTexts.length > maxWaitingTexts) waitingTexts.shift()
      }
    },
    pressed(digits) {
      if (isOver) return
      const text = `[The person pressed these keys on the telephone: ${digits}]`
      history.told(text)
      current?.link.remember([userMessage(text)])
      current?.link.goOn()
    },
    interrupt(utteranceId, playedMs) {
      history.interrupted(utteranceId, playedMs)
      playedOutAtMs = heardMs()
      const dot = utteranceId.indexOf('.')
      if (current?.number !== Number(utteranceId.slice(0, dot))) return
      current.link.interrupt(utteranceId.slice(dot + 1), playedMs)
    },
    toolResult(toolCallId, result, goOn = true) {
      history.toolResult(toolCallId, result)
      if (!current || isOver) return
      const number = linkOfTool.get(toolCallId)
      linkOfTool.delete(toolCallId)
      if (number === current.number) return current.link.toolResult(toolCallId, result, goOn)
      current.link.remember(history.toolItems(toolCallId, result))
      if (goOn) current.link.goOn()
    },
    close: () => (closed ??= close()),
  }
}

const maxTrackedTools = 64

const track = (links: Map<string, number>, id: string, number: number): void => {
  links.set(id, number)
  const [oldest] = links.keys()
  if (links.size > maxTrackedTools && oldest !== undefined) links.delete(oldest)
}
