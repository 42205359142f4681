/** A run of digits spoken word by word: `four one one one` is 4111. */
interface SpokenDigitRun {
  /** Its place in the text: [start, end). */
  readonly start: number
  readonly end: number
  readonly digits: string
}

/** Shorter runs are a time, a date or a street number. */
const leastDigits = 7

const english = {
  zero: '0',
  oh: '0',
  o: '0',
  nought: '0',
  one: '1',
  two: '2',
  three: '3',
  four: '4',
  five: '5',
  six: '6',
  seven: '7',
  eight: '8',
  nine: '9',
  niner: '9',
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

/**
 * Zero to nine. Some of these words mean something else in another language; the required run is too long for that.
 */
const otherLanguages = [
  'cero uno dos tres cuatro cinco seis siete ocho nueve',
  'zéro un deux trois quatre cinq six sept huit neuf',
  'null eins zwei drei vier fünf sechs sieben acht neun',
  'null ein zwo drei vier fuenf sechs sieben acht neun',
  'zero uno due tre quattro cinque sei sette otto nove',
  'zero uma dois três quatro cinco seis sete oito nove',
  'zero uma duas três quatro cinco meia sete oito nove',
  'nul een twee drie vier vijf zes zeven acht negen',
  'nul één twee drie vier vijf zes zeven acht negen',
  'zero jeden dwa trzy cztery pięć sześć siedem osiem dziewięć',
  'noll ett två tre fyra fem sex sju åtta nio',
  'noll en två tre fyra fem sex sju åtta nio',
  // Without `to`, which in English separates times and amounts.
  'nul en - tre fire fem seks syv otte ni',
  'null én - tre fire fem seks sju åtte ni',
  'nula jedna dva tři čtyři pět šest sedm osm devět',
  'zero unu doi trei patru cinci șase șapte opt nouă',
  'sıfır bir iki üç dört beş altı yedi sekiz dokuz',
  'ноль один два три четыре пять шесть семь восемь девять',
  'нуль один два три чотири пять шість сім вісім девять',
]

const digitsOfWord: ReadonlyMap<string, string> = new Map([
  ...otherLanguages.flatMap((words) =>
    words.split(' ').map((word, digit) => [word, String(digit)] as const),
  ),
  ...Object.entries(english),
])

const repeats: Readonly<Record<string, number>> = { double: 2, triple: 3 }

/** Spoken between digits without ending the number. `um` is one in Portuguese; it is part of the run anyway. */
const fillers = new Set(
  'um uh er erm ah eh hm hmm mm so like then and y et und e dash hyphen minus space slash comma dot point period'.split(
    ' ',
  ),
)

/** The words among these that do not separate two numbers. */
const hesitations = new Set('um uh er erm ah eh hm hmm mm dash hyphen'.split(' '))

/** Years and amounts may follow each other with a pause; this many digits are one number. */
const leastHesitantDigits = 10

interface OpenRun {
  start: number
  end: number
  digits: string
  words: number
  fillers: number
  /** Figures continued after a hesitation. */
  isHesitant: boolean
  hesitated: boolean
}

/** Consecutive fillers that do not end a number. */
const maxFillers = 3

/**
 * Every run of at least seven digits. Figures between the words count (`four 5 six`), and so do figures with a
 * hesitation between them (`4111 uh 1111 um 1111 1111`).
 */
export const spokenDigitRuns = (text: string): SpokenDigitRun[] => {
  const runs: SpokenDigitRun[] = []
  let run: OpenRun | undefined
  let heardTo = 0
  let times = 1

  const close = (): void => {
    if (run && isNumber(run)) {
      runs.push({ start: run.start, end: run.end, digits: run.digits })
    }
    run = undefined
    times = 1
  }

  for (const { 0: word, index } of text.matchAll(/[\p{L}\p{N}]+/gu)) {
    const lower = word.toLowerCase()
    const spoken = digitsOfWord.get(lower)
    const digits = spoken ?? (/^\d{1,4}$/.test(word) ? word : undefined)
    const repeat = repeats[lower]
    if (run && !isJoined(text.slice(heardTo, index))) close()
    heardTo = index + word.length
    if (repeat !== undefined) {
      run ??= openRun(index)
      run.end = heardTo
      times = repeat
    } else if (digits !== undefined) {
      run ??= openRun(index)
      run.isHesitant ||= run.hesitated
      run.hesitated = false
      run.end = heardTo
      run.digits += digits.repeat(times)
      run.fillers = 0
      if (spoken !== undefined) run.words += 1
      times = 1
    } else if (run && run.fillers < maxFillers && fillers.has(lower)) {
      run.fillers += 1
      run.hesitated = hesitations.has(lower)
    } else close()
  }
  close()
  return runs
}

const openRun = (start: number): OpenRun => ({
  start,
  end: start,
  digits: '',
  words: 0,
  fillers: 0,
  isHesitant: false,
  hesitated: false,
})

const isNumber = ({ digits, words, isHesitant }: OpenRun): boolean =>
  words > 0 ? digits.length >= leastDigits : isHesitant && digits.length >= leastHesitantDigits

/** Blanks and the punctuation that a transcriber adds to a dictated number. */
const isJoined = (between: string): boolean => /^[\s,.…;:\p{Pd}\u2212]{0,5}$/u.test(between)
