import { unrecognisedText } from '../../call-text/unrecognised-text.ts'

/** What words mean for turns, in one language. All in small letters, without marks. */
interface LanguageWords {
  /** Said while another speaks, to show attention: no wish to speak. */
  readonly backchannels: readonly string[]
  /** Said into a phone that was picked up. */
  readonly hellos: readonly string[]
  /** No sentence ends with them. */
  readonly unfinished: readonly string[]
  /** Complete as a reply. */
  readonly short: readonly string[]
  readonly digits: readonly string[]
  /** In a spoken address of e-mail. */
  readonly mail: readonly string[]
  /** In a question for what is spoken in groups: a number, an address, a spelling. */
  readonly asksForGroups: readonly string[]
}

const list = (text: string): readonly string[] => text.split('|')

const english: LanguageWords = {
  backchannels: list(
    'uh-huh|uh huh|uhuh|mm-hmm|mm hmm|mhm|mm|mmm|hmm|hm|right|okay|ok|yeah|yep|yes|sure|i see|got it|all right|alright|oh|ah|aha|wow|great|good|fine|nice|exactly|of course|true|really|i understand|understood|makes sense|that’s right|that is right|cool|go on|no problem|perfect|uh|um|oh okay|oh i see',
  ),
  hellos: list(
    'hello|hi|hey|yes|yeah|good morning|good afternoon|good evening|who is this|hello who is this|hello who’s there',
  ),
  unfinished: list(
    'and|but|or|so|because|if|when|that|the|a|an|my|your|to|of|for|with|at|in|on|is|are|it’s|i|i’m|um|uh|well|like|then|than|from|about|would|could|can|will|maybe|let me see|one moment|just a moment|let me think',
  ),
  short: list(
    'yes|no|yeah|yep|nope|sure|okay|ok|of course|correct|right|thanks|thank you|no thanks|no thank you|goodbye|bye|bye-bye',
  ),
  digits: list(
    'zero|oh|one|two|three|four|five|six|seven|eight|nine|ten|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|double|triple|plus',
  ),
  mail: list('at|dot|underscore|dash|hyphen'),
  asksForGroups: list(
    'number|phone|telephone|e-mail|email|mail|spell|spelling|address|postcode|zip|code|date of birth|account|digits|iban',
  ),
}

const german: LanguageWords = {
  backchannels: list(
    'mhm|hm|hmm|mm|mh|ja|ja ja|jaja|okay|ok|gut|alles klar|genau|richtig|verstehe|ich verstehe|ach so|aha|ah|oh|klar|stimmt|natürlich|sicher|schön|super|prima|in ordnung|ja genau|ja gut|äh|ähm',
  ),
  hellos: list(
    'hallo|ja|ja hallo|ja bitte|guten tag|guten morgen|guten abend|grüß gott|moin|servus|wer ist da|hallo wer ist da',
  ),
  unfinished: list(
    'und|aber|oder|also|weil|wenn|dass|der|die|das|ein|eine|mein|meine|zu|von|für|mit|bei|in|an|auf|ist|sind|ich|äh|ähm|dann|als|vielleicht|moment|einen moment|mal sehen',
  ),
  short: list(
    'ja|nein|nee|doch|okay|ok|genau|richtig|klar|danke|nein danke|tschüss|auf wiederhören',
  ),
  digits: list(
    'null|eins|ein|zwei|zwo|drei|vier|fünf|sechs|sieben|acht|neun|zehn|zwanzig|dreißig|vierzig|fünfzig|sechzig|siebzig|achtzig|neunzig|doppel|plus',
  ),
  mail: list('ät|at|punkt|unterstrich|minus|bindestrich'),
  asksForGroups: list(
    'nummer|telefon|rufnummer|e-mail|email|mail|buchstabieren|adresse|postleitzahl|geburtsdatum|konto|ziffern|iban',
  ),
}

const spanish: LanguageWords = {
  backchannels: list(
    'ajá|aja|mm|mhm|sí|si|ya|vale|claro|bueno|bien|entiendo|de acuerdo|exacto|ok|okay|ah|oh|perfecto|correcto|muy bien|sí sí|eh',
  ),
  hellos: list(
    'hola|sí|diga|dígame|bueno|aló|buenos días|buenas tardes|buenas noches|quién es|quién habla',
  ),
  unfinished: list(
    'y|pero|o|porque|si|que|el|la|los|las|un|una|mi|su|a|de|para|con|en|es|son|eh|pues|entonces|un momento',
  ),
  short: list('sí|si|no|vale|claro|correcto|gracias|no gracias|adiós'),
  digits: list(
    'cero|uno|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|veinte|treinta|cuarenta|cincuenta|sesenta|setenta|ochenta|noventa|cien|doble|más',
  ),
  mail: list('arroba|punto|guion|guión'),
  asksForGroups: list(
    'número|teléfono|correo|e-mail|email|deletrear|deletree|dirección|código postal|nacimiento|cuenta|cifras|iban',
  ),
}

const french: LanguageWords = {
  backchannels: list(
    'mm|hm|mhm|oui|ouais|d’accord|ok|okay|bien|très bien|je vois|je comprends|ah|oh|ah oui|ah bon|voilà|exactement|tout à fait|bien sûr|parfait|entendu|oui oui|euh',
  ),
  hellos: list('allô|allo|oui|oui allô|bonjour|bonsoir|qui est à l’appareil|c’est qui'),
  unfinished: list(
    'et|mais|ou|donc|parce que|si|que|le|la|les|un|une|mon|ma|à|de|pour|avec|dans|sur|est|sont|je|euh|alors|puis|un instant',
  ),
  short: list('oui|non|d’accord|ok|bien sûr|exact|merci|non merci|au revoir'),
  digits: list(
    'zéro|un|deux|trois|quatre|cinq|six|sept|huit|neuf|dix|vingt|trente|quarante|cinquante|soixante|cent|double|plus',
  ),
  mail: list('arobase|point|tiret'),
  asksForGroups: list(
    'numéro|téléphone|e-mail|email|mail|courriel|épeler|adresse|code postal|naissance|compte|chiffres|iban',
  ),
}

const italian: LanguageWords = {
  backchannels: list(
    'mm|mhm|hm|sì|si|certo|va bene|bene|ok|okay|capisco|ho capito|ah|oh|esatto|giusto|perfetto|d’accordo|chiaro|sì sì|eh',
  ),
  hellos: list('pronto|sì|sì pronto|buongiorno|buonasera|ciao|chi è|chi parla'),
  unfinished: list(
    'e|ma|o|perché|se|che|il|la|lo|i|le|un|una|mio|mia|a|di|per|con|in|su|è|sono|eh|allora|poi|un momento',
  ),
  short: list('sì|si|no|certo|ok|va bene|esatto|grazie|no grazie|arrivederci'),
  digits: list(
    'zero|uno|due|tre|quattro|cinque|sei|sette|otto|nove|dieci|venti|trenta|quaranta|cinquanta|sessanta|settanta|ottanta|novanta|cento|doppio|più',
  ),
  mail: list('chiocciola|punto|trattino'),
  asksForGroups: list(
    'numero|telefono|e-mail|email|mail|posta|scandire|lettera|indirizzo|codice postale|cap|nascita|conto|cifre|iban',
  ),
}

const dutch: LanguageWords = {
  backchannels: list(
    'mm|mhm|hm|hmm|ja|ja ja|jaja|oké|oke|ok|okay|goed|juist|precies|ik snap het|ik begrijp het|ah|oh|aha|klopt|natuurlijk|zeker|prima|top|duidelijk|eh',
  ),
  hellos: list('hallo|ja|ja hallo|met|goedemorgen|goedemiddag|goedenavond|hoi|wie is dit'),
  unfinished: list(
    'en|maar|of|dus|omdat|als|dat|de|het|een|mijn|te|van|voor|met|bij|in|op|is|zijn|ik|eh|uh|dan|misschien|momentje|een moment',
  ),
  short: list('ja|nee|oké|oke|ok|klopt|juist|zeker|bedankt|dank u|nee bedankt|dag|tot ziens'),
  digits: list(
    'nul|een|één|twee|drie|vier|vijf|zes|zeven|acht|negen|tien|twintig|dertig|veertig|vijftig|zestig|zeventig|tachtig|negentig|dubbel|plus',
  ),
  mail: list('apenstaartje|at|punt|streepje'),
  asksForGroups: list(
    'nummer|telefoon|e-mail|email|mail|spellen|adres|postcode|geboortedatum|rekening|cijfers|iban',
  ),
}

const portuguese: LanguageWords = {
  backchannels: list(
    'mm|mhm|hum|sim|é|tá|tá bom|está bem|certo|claro|ok|okay|entendi|entendo|ah|oh|exato|isso|perfeito|beleza|pois|sim sim|eh',
  ),
  hellos: list('alô|alo|está|estou|sim|oi|olá|bom dia|boa tarde|boa noite|quem é|quem fala'),
  unfinished: list(
    'e|mas|ou|porque|se|que|o|a|os|as|um|uma|meu|minha|para|de|com|em|no|na|é|são|eh|então|depois|um momento',
  ),
  short: list(
    'sim|não|claro|ok|certo|exato|obrigado|obrigada|não obrigado|não obrigada|tchau|adeus',
  ),
  digits: list(
    'zero|um|dois|três|quatro|cinco|seis|meia|sete|oito|nove|dez|vinte|trinta|quarenta|cinquenta|sessenta|setenta|oitenta|noventa|cem|duplo|mais',
  ),
  mail: list('arroba|ponto|hífen|traço'),
  asksForGroups: list(
    'número|telefone|e-mail|email|mail|soletrar|endereço|morada|cep|código postal|nascimento|conta|dígitos|iban',
  ),
}

const byLanguage: Readonly<Record<string, LanguageWords>> = {
  en: english,
  de: german,
  es: spanish,
  fr: french,
  it: italian,
  nl: dutch,
  pt: portuguese,
}

/** How the callee's words count. `nothing`: a sound without words. */
export type WordsKind = 'nothing' | 'backchannel' | 'speech'

/** How words end, as far as that says whether more follows. */
export type WordsEnd = 'complete' | 'short' | 'open' | 'unfinished' | 'groups'

/** What words mean for turns, for one agent. */
export interface TurnWords {
  kindOf(text: string): WordsKind
  /** Only words that are said into a phone that was picked up. */
  isHello(text: string): boolean
  endOf(text: string): WordsEnd
  /** Whether the agent asked for something that is spoken in groups. */
  asksForGroups(agentText: string): boolean
}

/** Longer texts are judged by their end. */
const judgedLength = 400
const mostPhraseWords = 4
/** A telephone number is complete with this many digits. */
const digitsOfNumber = 10

/**
 * @param language BCP 47; English where its words are not known
 * @param more words that count as backchannels, in any case
 */
export const createTurnWords = (language: string, more: readonly string[] = []): TurnWords => {
  const words = byLanguage[language.split('-')[0]?.toLowerCase() ?? ''] ?? english
  const backchannels = new Set([...words.backchannels, ...more.map(plain)].map(plain))
  const hellos = new Set(words.hellos.map(plain))
  const unfinished = new Set(words.unfinished.map(plain))
  const short = new Set(words.short.map(plain))
  const digits = new Set(words.digits.map(plain))
  const mail = new Set(words.mail.map(plain))
  const asked = words.asksForGroups.map(plain)

  const isGrouped = (tokens: readonly string[]): boolean => {
    const last = tokens.at(-1) ?? ''
    const isPart = (token: string): boolean => /^\p{N}+$/u.test(token) || digits.has(token)
    if (isPart(last)) return tokens.length > 1 || /^\p{N}{2,}$/u.test(last)
    if (mail.has(last) && tokens.length > 1) return true
    return tokens.length > 1 && tokens.slice(-2).every((token) => /^\p{L}$/u.test(token))
  }

  const digitsIn = (tokens: readonly string[]): number =>
    tokens.reduce((sum, token) => {
      if (/^\p{N}+$/u.test(token)) return sum + token.length
      return sum + (digits.has(token) ? 1 : 0)
    }, 0)

  return {
    kindOf(text) {
      const tokens = tokensOf(text)
      if (tokens.length === 0) return 'nothing'
      return consistsOf(tokens, backchannels) ? 'backchannel' : 'speech'
    },
    isHello(text) {
      const tokens = tokensOf(text)
      return tokens.length > 0 && consistsOf(tokens, hellos)
    },
    endOf(text) {
      const tokens = tokensOf(text)
      const last = text.trimEnd().at(-1) ?? ''
      if (isGrouped(tokens)) return digitsIn(tokens) >= digitsOfNumber ? 'open' : 'groups'
      if (last === '?') return 'complete'
      if (endsWithAny(tokens, unfinished) || /[,;:…–-]/u.test(last)) return 'unfinished'
      if (consistsOf(tokens, short)) return 'short'
      return /[.!。！？]/u.test(last) ? 'complete' : 'open'
    },
    asksForGroups(agentText) {
      const asks = ` ${tokensOf(agentText).join(' ')} `
      return asked.some((word) => asks.includes(` ${word} `))
    },
  }
}

const plain = (text: string): string => tokensOf(text).join(' ')

/** The words in small letters, without marks. */
const tokensOf = (text: string): string[] =>
  text
    .replaceAll(unrecognisedText, ' ')
    .slice(-judgedLength)
    .toLowerCase()
    .replace(/[’‘`]/gu, "'")
    .split(/[^\p{L}\p{N}'+]+/u)
    .filter((token) => /[\p{L}\p{N}]/u.test(token))

/** Whether the words are a sequence of these phrases. */
const consistsOf = (tokens: readonly string[], phrases: ReadonlySet<string>): boolean => {
  let at = 0
  while (at < tokens.length) {
    let length = Math.min(mostPhraseWords, tokens.length - at)
    while (length > 0 && !phrases.has(tokens.slice(at, at + length).join(' '))) length -= 1
    if (length === 0) return false
    at += length
  }
  return true
}

const endsWithAny = (tokens: readonly string[], phrases: ReadonlySet<string>): boolean => {
  for (let length = 1; length <= mostPhraseWords; length += 1)
    if (length <= tokens.length && phrases.has(tokens.slice(-length).join(' '))) return true
  return false
}
