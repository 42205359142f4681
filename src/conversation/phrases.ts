/** The few things our own loop has the agent say. */
export interface Phrases {
  readonly areYouThere: string
  readonly goodbye: string
  readonly timeIsShort: string
  readonly oneMoment: string
}

const english: Phrases = {
  areYouThere: 'Hello? Are you still there?',
  goodbye: 'I will let you go now. Goodbye.',
  timeIsShort: 'I am sorry, but I have to finish in a moment.',
  oneMoment: 'One moment, please.',
}

const phrasesByLanguage: Readonly<Record<string, Phrases>> = {
  en: english,
  de: {
    areYouThere: 'Hallo? Sind Sie noch da?',
    goodbye: 'Dann beende ich das Gespräch. Auf Wiederhören.',
    timeIsShort: 'Entschuldigung, ich muss gleich zum Ende kommen.',
    oneMoment: 'Einen Moment, bitte.',
  },
  es: {
    areYouThere: '¿Hola? ¿Sigue ahí?',
    goodbye: 'Termino la llamada. Adiós.',
    timeIsShort: 'Disculpe, tengo que terminar en un momento.',
    oneMoment: 'Un momento, por favor.',
  },
  fr: {
    areYouThere: 'Allô ? Vous êtes toujours là ?',
    goodbye: 'Je vais raccrocher. Au revoir.',
    timeIsShort: 'Excusez-moi, je dois bientôt terminer.',
    oneMoment: 'Un instant, s’il vous plaît.',
  },
  it: {
    areYouThere: 'Pronto? È ancora in linea?',
    goodbye: 'Chiudo la chiamata. Arrivederci.',
    timeIsShort: 'Mi scusi, devo concludere tra poco.',
    oneMoment: 'Un momento, per favore.',
  },
  nl: {
    areYouThere: 'Hallo? Bent u er nog?',
    goodbye: 'Dan hang ik nu op. Tot ziens.',
    timeIsShort: 'Excuses, ik moet zo afronden.',
    oneMoment: 'Een ogenblik, alstublieft.',
  },
  pt: {
    areYouThere: 'Alô? Ainda está aí?',
    goodbye: 'Vou encerrar a chamada. Até logo.',
    timeIsShort: 'Desculpe, preciso terminar em instantes.',
    oneMoment: 'Um momento, por favor.',
  },
}

/** For a BCP 47 tag; English where the language is not among them. */
export const phrasesFor = (language: string): Phrases =>
  phrasesByLanguage[language.split('-')[0]?.toLowerCase() ?? ''] ?? english
