/** A run of digits spoken word by word: `four one one one` is 4111. */
export interface SpokenDigitRun {
  /** Where it lies in the text: [start, end). */
  readonly start: number
  readonly end: number
  readonly digits: string
}

/** Fewer are a time, a date or a street number. */
const leastDigits = 7

const digitsOfWord: Readonly<Record<string, string>> = {
  zero: '0',
  oh: '0',
  o: '0',
  one: '1',
  two: '2',
  three: '3',
  four: '4',
  five: '5',
  six: '6',
  seven: '7',
  eight: '8',
  nine: '9',
  ten: '10',
  eleven: '11',
  twelve: '12',
  thirteen: '13',
  fourteen: '14',
  fifteen: '15',
  sixteen: '16',
  seventeen: '17',
  eighteen: '18',
  nineteen: '19',
  twenty: '20',
  thirty: '30',
  forty: '40',
  fifty: '50',
  sixty: '60',
  seventy: '70',
  eighty: '80',
  ninety: '90',
}

const repeats: Readonly<Record<string, number>> = { double: 2, triple: 3 }

/** Every run of at least seven digits; figures between the words count with them (`four 5 six`). */
export const spokenDigitRuns = (text: string): SpokenDigitRun[] => {
  const runs: SpokenDigitRun[] = []
  let run: { start: number; end: number; digits: string; words: number } | undefined
  let times = 1

  const close = (): void => {
    if (run && run.digits.length >= leastDigits && run.words > 0) {
      runs.push({ start: run.start, end: run.end, digits: run.digits })
    }
    run = undefined
    times = 1
  }

  for (const { 0: word, index } of text.matchAll(/[\p{L}\p{N}]+/gu)) {
    const lower = word.toLowerCase()
    const repeat = repeats[lower]
    if (run && !isJoined(text.slice(run.end, index))) close()
    if (repeat !== undefined) {
      run ??= { start: index, end: index, digits: '', words: 0 }
      run.end = index + word.length
      times = repeat
      continue
    }
    const spoken = digitsOfWord[lower]
    const digits = spoken ?? (/^\d{1,4}$/.test(word) ? word : undefined)
    if (digits === undefined) {
      close()
      continue
    }
    run ??= { start: index, end: index, digits: '', words: 0 }
    run.end = index + word.length
    run.digits += digits.repeat(times)
    if (spoken !== undefined) run.words += 1
    times = 1
  }
  close()
  return runs
}

/** Only blanks, commas and hyphens may lie between the digits of one number. */
const isJoined = (between: string): boolean => /^[\s,-]{0,3}$/u.test(between)
