/** The start parameters of the scripted server's thread, and the message it sends. */
export interface ScriptedServerSettings {
  /** The only lines it can understand, spoken by the sandbox's callees. */
  readonly vocabulary: readonly string[]
  /** 0 for any free port. */
  readonly port: number
  /** PEM; without it the server does not use TLS. */
  readonly tls?: { readonly cert: string; readonly key: string }
}

export type ScriptedServerMessage = { readonly type: 'listening'; readonly port: number }
