/** The few sentences that our own loop gives the agent. */
export interface Phrases {
  readonly areYouThere: string
  readonly goodbye: string
  readonly timeIsShort: string
  readonly oneMoment: string
  /** The callee spoke and was not understood. */
  readonly pardon: string
  /** Said before the call ends because the engine has failed. */
  readonly technicalTrouble: string
}

const english: Phrases = {
  areYouThere: 'Hello? Are you still there?',
  goodbye: 'I will let you go now. Goodbye.',
  timeIsShort: 'I am sorry, but I have to finish in a moment.',
  oneMoment: 'One moment, please.',
  pardon: 'Sorry, I did not catch that. Could you say it again?',
  technicalTrouble: 'I am sorry, I have a technical problem and must end the call. Goodbye.',
}

const phrasesByLanguage: Readonly<Record<string, Phrases>> = {
  en: english,
  de: {
    areYouThere: 'Hallo? Sind Sie noch da?',
    goodbye: 'Dann beende ich das Gespräch. Auf Wiederhören.',
    timeIsShort: 'Entschuldigung, ich muss gleich zum Ende kommen.',
    oneMoment: 'Einen Moment, bitte.',
    pardon: 'Entschuldigung, das habe ich nicht verstanden. Könnten Sie es wiederholen?',
    technicalTrouble:
      'Es tut mir leid, ich habe ein technisches Problem und muss das Gespräch beenden. Auf Wiederhören.',
  },
  es: {
    areYouThere: '¿Hola? ¿Sigue ahí?',
    goodbye: 'Termino la llamada. Adiós.',
    timeIsShort: 'Disculpe, tengo que terminar en un momento.',
    oneMoment: 'Un momento, por favor.',
    pardon: 'Perdone, no le he entendido. ¿Puede repetirlo?',
    technicalTrouble: 'Lo siento, tengo un problema técnico y debo terminar la llamada. Adiós.',
  },
  fr: {
    areYouThere: 'Allô ? Vous êtes toujours là ?',
    goodbye: 'Je vais raccrocher. Au revoir.',
    timeIsShort: 'Excusez-moi, je dois bientôt terminer.',
    oneMoment: 'Un instant, s’il vous plaît.',
    pardon: 'Pardon, je n’ai pas compris. Pouvez-vous répéter ?',
    technicalTrouble: 'Je suis désolée, j’ai un problème technique et dois raccrocher. Au revoir.',
  },
  it: {
    areYouThere: 'Pronto? È ancora in linea?',
    goodbye: 'Chiudo la chiamata. Arrivederci.',
    timeIsShort: 'Mi scusi, devo concludere tra poco.',
    oneMoment: 'Un momento, per favore.',
    pardon: 'Scusi, non ho capito. Può ripetere?',
    technicalTrouble:
      'Mi dispiace, ho un problema tecnico e devo chiudere la chiamata. Arrivederci.',
  },
  nl: {
    areYouThere: 'Hallo? Bent u er nog?',
    goodbye: 'Dan hang ik nu op. Tot ziens.',
    timeIsShort: 'Excuses, ik moet zo afronden.',
    oneMoment: 'Een ogenblik, alstublieft.',
    pardon: 'Sorry, dat heb ik niet verstaan. Kunt u het herhalen?',
    technicalTrouble: 'Het spijt me, ik heb een technisch probleem en moet ophangen. Tot ziens.',
  },
  pt: {
    areYouThere: 'Alô? Ainda está aí?',
    goodbye: 'Vou encerrar a chamada. Até logo.',
    timeIsShort: 'Desculpe, preciso terminar em instantes.',
    oneMoment: 'Um momento, por favor.',
    pardon: 'Desculpe, não entendi. Pode repetir?',
    technicalTrouble:
      'Peço desculpa, tenho um problema técnico e preciso encerrar a chamada. Até logo.',
  },
}

/** For a BCP 47 tag; English where the language is not among them. */
export const phrasesFor = (language: string): Phrases =>
  phrasesByLanguage[language.split('-')[0]?.toLowerCase() ?? ''] ?? english
