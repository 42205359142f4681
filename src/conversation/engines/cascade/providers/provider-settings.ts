/** An HTTP server of OpenAI's form. */
export interface ServerSettings {
  /** Base URL, `…/v1`. */
  readonly url: string
  readonly key?: string
  readonly model?: string
}

/** One provider of speech or words, as the engine reaches it. */
export interface ProviderSettings<Kind extends string = string> {
  /** Shown in logs and explanations. */
  readonly name: string
  /** Tells providers of the same name of several organizations apart; how a provider fares is remembered by it. */
  readonly id: string
  readonly kind: Kind
  /** Base URL; without it the provider's own. */
  readonly url?: string
  readonly key?: string
  readonly model?: string
  readonly voice?: string
  /** A tenant supplied the address: only public hosts are allowed. */
  readonly publicHostsOnly?: boolean
}
