/** The part of sdp-transform that we use; the package has no types. */
declare module 'sdp-transform' {
  export interface ParsedMedia {
    readonly type: string
    readonly port: number
    readonly protocol: string
    readonly payloads?: string | number
    readonly connection?: { readonly ip: string | number }
    readonly direction?: string
    readonly ptime?: number
    readonly crypto?: readonly {
      readonly id?: number
      readonly suite?: string
      readonly config?: string
      readonly sessionConfig?: string
    }[]
    readonly fingerprint?: unknown
    readonly rtp: readonly {
      readonly payload: number
      readonly codec: string
      readonly rate?: number
    }[]
  }
  export interface ParsedSession {
    readonly connection?: { readonly ip: string | number }
    readonly direction?: string
    readonly fingerprint?: unknown
    readonly media: readonly ParsedMedia[]
  }
  const transform: { parse(sdp: string): ParsedSession }
  export default transform
}
