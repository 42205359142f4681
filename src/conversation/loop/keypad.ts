import { frameMs } from '../../audio/frame.ts'

/** The digits of a call, pressed by the callee and sent to them. */
export interface Keypad {
  /**
   * The callee pressed this key. Returns false when they have pressed too many: the key is dropped.
   */
  heard(digit: string): boolean
  /** This many digits are sent now. */
  send(count: number): void
  /** The end of one tick. */
  tick(): void
  /** Digits occupy the line: the agent cannot speak. */
  readonly isSending: boolean
}

const pauseMs = 1_500
const maxDigits = 32
/** How long a digit occupies the line: 160 ms as an RTP event (RFC 4733), and a pause. */
const sentDigitMs = 260

/** `onPressed` gets the callee's digits together, after a pause. */
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
