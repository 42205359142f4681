/** What the first words on the line reveal about the answering party. */
export type AnswerPhrase =
  /** Only a machine says this: "Please leave your message after the tone." */
  | 'voicemail'
  /** A machine or a person may say this: "He is not available right now." */
  | 'maybe_voicemail'
  /** An assistant asks who is calling and why before it rings for the person. */
  | 'screening'
  /** The network: the number does not exist or is out of service. */
  | 'announcement'

/** Matched against plain text: lower case, without accents, `'` for every apostrophe. */
const voicemail: readonly RegExp[] = [
  // English. "Would you like to leave a message?" is a person's question.
  /(?<!(?:like|want|wish|care|prefer|need) to )(?<!(?:can|could|shall|may|should) (?:i|you|we) )\bleave (?:me |us |him |her )?(?:a|your) (?:\w+ )?(?:message|name and)/,
  /\b(?:after|at) the (?:tone|beep|signal)\b/,
  /\brecord your (?:message|name and number)\b/,
  /\breached (?:the |my |our )?(?:voice ?mail|mailbox|answering)/,
  /\bvoice ?mail(?: ?box)? (?:of|for|system|service)\b|\bmailbox (?:is full|of|has not been)\b/,
  /\bforwarded to (?:an? )?(?:automat|voice)/,
  /\bthis is (?:an|the) answering (?:machine|service)\b/,
  // German
  /\bnach dem (?:signal|ton|piep|pfeif)/,
  /\b(?:hinterlassen|sprechen) sie .{0,30}nachricht\b|\bhinterlass.{0,20}nachricht\b/,
  /\b(?:mailbox von|anrufbeantworter (?:von|der|des)|sprachbox)\b/,
  // Spanish
  /\bdespues (?:de |del )(?:la |el )?(?:senal|tono|pitido|bip)\b|\bal oir la senal\b/,
  /\bbuzon de voz\b|\bcontestador(?: automatico)? de\b/,
  /\bdej(?:e|a|anos|enos|enme|ame) (?:su|tu|un) (?:mensaje|recado)\b/,
  // French
  /\bapres le (?:bip|signal|top)\b/,
  /\blaisse[zr]?(?:-| )?(?:moi |nous )?(?:un|votre|ton) message\b/,
  /\b(?:messagerie(?: vocale)?|boite vocale|repondeur) (?:de|du|d')/,
  // Italian
  /\bdopo il (?:segnale|bip|tono)\b/,
  /\blasci(?:a|ate|are|ateci)? (?:un|il (?:suo|tuo|vostro)) messaggio\b/,
  /\bsegreteria telefonica\b|\bcasella vocale\b/,
  // Dutch
  /\bna de (?:piep|toon|pieptoon)\b/,
  /\b(?:voicemail|antwoordapparaat) van\b/,
  /\b(?:spreek|laat) .{0,30}(?:bericht|boodschap)\b/,
  // Portuguese
  /\b(?:apos|depois d)o? ?o? (?:sinal|bip|tom|toque)\b/,
  /\bcaixa (?:postal|de correio|de mensagens)\b|\bcorreio de voz\b|\bsecretaria eletronica\b/,
  /\bdeixe (?:a sua|sua|o seu|seu|uma|um) (?:mensagem|recado)\b/,
  // Polish
  /\bpo (?:sygnale|uslyszeniu sygnalu)\b/,
  /\bpoczt[aye] glosow/,
  /\b(?:zostaw|zostawic|nagraj|nagrac) (?:\w+ )?wiadomosc\b|\bautomatyczna sekretarka\b/,
]

const maybeVoicemail: readonly RegExp[] = [
  /\b(?:not|un)(?: ?currently)? ?available\b|\bunavailable\b|\bvoice ?mail\b|\banswering machine\b/,
  /\b(?:can ?not|can't|unable to) (?:take|come to|answer|get to)\b/,
  /\bleave (?:a|your) message\b|\bget back to you\b|\breturn your call\b/,
  /\byou(?: have|'ve) reached\b|\b(?:we are|office is) (?:currently |now )?closed\b|\b(?:opening|office|business) hours\b/,
  /\bnicht (?:erreichbar|verfugbar|da)\b|\bmailbox\b|\banrufbeantworter\b|\brufe .{0,20}zuruck\b/,
  /\bno (?:esta|estoy|se encuentra) disponible\b|\bno puedo atender/,
  /\b(?:pas|plus) disponible\b|\bpeux? pas (?:vous )?repondre\b|\brepondeur\b|\bmessagerie\b/,
  /\bnon (?:e|sono) (?:al momento )?(?:raggiungibile|disponibile)\b|\bnon posso rispondere\b/,
  /\bniet (?:bereikbaar|beschikbaar)\b|\bniet (?:opnemen|aannemen)\b|\bvoicemail\b/,
  /\bnao (?:esta|estou) disponivel\b|\bnao posso atender\b/,
  /\bnie moge (?:\w+ )?odebrac\b|\bniedostepny\b|\bpoza zasiegiem\b/,
]

const screening: readonly RegExp[] = [
  /\b(?:call )?screening\b|\bscreen(?:s|ed|ing)? (?:this|your|the|my) call\b/,
  /\b(?:record|say|state|give|tell me|provide) your name,?(?: and|,)? (?:\w+ ){0,3}(?:why|reason)/,
  /\bwho(?: i|')s calling,? and (?:why|for what|what)\b/,
  /\bsee if (?:this person|they|he|she|the person) (?:is|are|'re) available\b/,
  /\bperson you(?: a|')re (?:calling|trying to reach) is using\b/,
  /\bnennen sie .{0,20}namen und .{0,10}grund\b|\bsagen sie .{0,30}wer .{0,20}und warum\b|\banruffilter\b/,
  /\bdiga (?:su|tu) nombre y (?:el motivo|la razon|por que)\b|\bfiltro de llamadas\b/,
  /\b(?:dites|indiquez|enregistrez) votre nom et (?:la raison|le motif|pourquoi)\b|\bfiltrage (?:d'|des )appels\b/,
  /\b(?:dica|indichi|registri|dire|registra) il (?:suo|tuo) nome e (?:il motivo|perche|la ragione)\b/,
  /\b(?:zeg|noem|geef|vermeld) (?:uw|je) naam en (?:de reden|waarom)\b/,
  /\b(?:diga|grave|informe) (?:o )?(?:seu|teu) nome e (?:o motivo|por que|a razao)\b/,
  /\bpodaj (?:\w+ ){0,3}i (?:powod|cel)\b/,
]

const announcement: readonly RegExp[] = [
  /\bnumber you (?:have |'ve )?(?:dialed|dialled|called|reached|are calling|are trying to (?:reach|call)).{0,40}\b(?:not in service|no longer in service|out of service|not (?:been )?(?:assigned|recogni[sz]ed)|disconnected|does not exist|not a working number)\b/,
  /\b(?:kein anschluss unter dieser|rufnummer .{0,20}nicht (?:vergeben|bekannt|gultig))/,
  /\bnumero .{0,40}\b(?:no existe|no corresponde|fuera de servicio)\b/,
  /\bnumero .{0,40}\b(?:n'est (?:pas|plus) attribue|n'existe pas)\b/,
  /\bnumero .{0,40}\b(?:inesistente|non (?:e )?(?:attivo|esistente|assegnato))\b/,
  /\bnummer .{0,40}\bniet (?:in gebruik|aangesloten|bekend)\b/,
  /\bnumero .{0,40}\bnao (?:existe|esta em servico)\b/,
  /\bnie ma takiego numeru\b|\bnumer .{0,30}nie (?:istnieje|jest aktywny)\b/,
]

/** In this order: words of machines only, an assistant's questions, words of either. */
const phrases: readonly (readonly [AnswerPhrase, readonly RegExp[]])[] = [
  ['announcement', announcement],
  ['voicemail', voicemail],
  ['screening', screening],
  ['maybe_voicemail', maybeVoicemail],
]

const maxTextLength = 2_000

/**
 * Classifies the words in English, German, Spanish, French, Italian, Dutch, Portuguese or Polish,
 * whatever language the agent speaks, because a carrier's voicemail has its own language.
 * `undefined` for words that a person says to a caller.
 */
export const readAnswer = (text: string): AnswerPhrase | undefined => {
  const plain = toPlain(text.slice(0, maxTextLength))
  return phrases.find(([, patterns]) => patterns.some((pattern) => pattern.test(plain)))?.[0]
}

const toPlain = (text: string): string =>
  text
    .toLowerCase()
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replaceAll('ł', 'l')
    .replaceAll('ß', 'ss')
    .replace(/[‘’]/g, "'")
    .replace(/\s+/g, ' ')
