/** What the scripted server's thread is started with, and the message it sends. */
export interface ScriptedServerSettings {
  /** The lines it can understand, spoken by the sandbox's callees; nothing else is. */
  readonly vocabulary: readonly string[]
  /** 0 for any free one. */
  readonly port: number
  /** PEM; without it the server speaks plainly. */
  readonly tls?: { readonly cert: string; readonly key: string }
}

export type ScriptedServerMessage = { readonly type: 'listening'; readonly port: number }
