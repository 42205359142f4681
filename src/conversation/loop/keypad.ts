import { frameMs } from '../../audio/frame.ts'

/** The digits of a call, pressed by the callee and sent to them. */
export interface Keypad {
  /** The callee pressed this. Returns false when they have pressed too many keys: this one is not taken. */
  heard(digit: string): boolean
  /** So many digits go out now. */
  send(count: number): void
  /** The end of one tick. */
  tick(): void
  /** Digits keep the line: nothing can be said. */
  readonly isSending: boolean
}

const pauseMs = 1_500
const maxDigits = 32
/** How long a digit keeps the line: 160 ms as an RTP event (RFC 4733), and a pause. */
const sentDigitMs = 260

/** `onPressed` gets the digits of the callee together, once they pause. */
export const createKeypad = (onPressed: (digits: string) => void): Keypad => {
  let digits = ''
  let quietMs = 0
  let sendingMs = 0

  return {
    heard(digit) {
      if (digits.length >= maxDigits) return false
      digits += digit
      quietMs = 0
      return true
    },
    send(count) {
      sendingMs += count * sentDigitMs
    },
    tick() {
      sendingMs = Math.max(0, sendingMs - frameMs)
      if (digits === '') return
      quietMs += frameMs
      if (quietMs < pauseMs) return
      onPressed(digits)
      digits = ''
    },
    get isSending() {
      return sendingMs > 0
    },
  }
}
