import type { OrganizationId } from '../contract/organization-id.ts'
import { isOfStage } from '../contract/provider-kinds.ts'
import { createChatModel } from '../conversation/engines/cascade/chat-model.ts'
import { createProviderFetch } from '../conversation/engines/cascade/provider-fetch.ts'
import { ProviderError } from '../conversation/engines/cascade/provider-error.ts'
import { createSpeechSynthesizer } from '../conversation/engines/cascade/synthesizers/create-synthesizer.ts'
import { createTranscriber } from '../conversation/engines/cascade/transcribers/create-transcriber.ts'
import type { Queryable } from '../database/database.ts'
import { OperatorError } from '../domains/organizations/operator-error.ts'
import type { SecretBox } from '../domains/organizations/secret-box.ts'
import { findProvider, type StoredProvider } from '../domains/providers/find-provider.ts'
import { listProviderRows } from '../domains/providers/provider-store.ts'

export interface ProviderTestResult {
  readonly ok: boolean
  /** How long the first result took; null if there was none. */
  readonly first_ms: number | null
  /** One sentence. */
  readonly message: string
}

const limitMs = 15_000
const defaultModelUrl = 'https://api.openai.com/v1'
const noOrganization = '' as OrganizationId
/** Half a second of noise: no words, but a reason to reply. */
const noise = Int16Array.from({ length: 4_000 }, (_, at) => 3_000 * Math.sin(at * at))

/** Lets a provider of the database do a moment of its work. Throws `OperatorError` for an unknown one. */
export const testStoredProvider = async (
  db: Queryable,
  box: SecretBox,
  organizationId: OrganizationId | null,
  name: string,
): Promise<ProviderTestResult> => {
  const rows = await listProviderRows(db)
  const found = findProvider(rows, box, organizationId ?? noOrganization, name)
  if (typeof found === 'string') throw new OperatorError(found)
  return testProvider(found)
}

/** Never throws. */
export const testProvider = async (provider: StoredProvider): Promise<ProviderTestResult> => {
  const beganAt = performance.now()
  try {
    await tryOut(provider, AbortSignal.timeout(limitMs))
    const first_ms = Math.round(performance.now() - beganAt)
    return { ok: true, first_ms, message: `The provider ${provider.name} works: ${first_ms} ms.` }
  } catch (error) {
    const why = error instanceof ProviderError ? error.message : `It took more than ${limitMs} ms.`
    const message = `The provider ${provider.name} failed. ${why} ${remedyOf(error)}`
    return { ok: false, first_ms: null, message: message.trim() }
  }
}

const remedyOf = (error: unknown): string => {
  const status = error instanceof ProviderError ? error.status : undefined
  if (status === 401 || status === 403) return 'Check its key, then remove and add the provider.'
  if (status === 429) return 'Its limit or its budget is used up.'
  if (status !== undefined && status < 500) return 'Check its model, its voice and its URL.'
  return 'Check its URL and the network.'
}

const tryOut = async (provider: StoredProvider, signal: AbortSignal): Promise<void> => {
  const { kind, id, name } = provider
  const given = Object.entries(provider).filter(([, value]) => value !== undefined)
  const settings = { id, name, ...Object.fromEntries(given) }
  if (isOfStage('stt', kind)) {
    const spoken = { language: 'en-US', codec: 'pcmu' } as const
    const deaf = { onWords() {}, onTurnHint() {}, onLost() {} }
    const heard = await createTranscriber({ ...settings, kind }, spoken).open(deaf, signal)
    try {
      const speech = { samples: noise, voicedMs: 500 }
      heard.replay(speech)
      await heard.finish(speech, signal)
    } finally {
      heard.close()
    }
  } else if (isOfStage('tts', kind)) {
    const synthesizer = createSpeechSynthesizer({ ...settings, kind }, 'en-US')
    try {
      for await (const samples of synthesizer.speak('Yes.', signal)) if (samples.length > 0) return
    } finally {
      synthesizer.close()
    }
  } else {
    const server = { ...settings, url: provider.url ?? defaultModelUrl }
    const model = createChatModel(server, 'Say yes.', [], createProviderFetch(false))
    const question = { role: 'user', content: 'Say yes.' } as const
    for await (const part of model.reply([question], signal)) if (part.type === 'text') return
  }
}
