import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readAnswer, type AnswerPhrase } from './answer-phrases.ts'

const said: Readonly<Record<AnswerPhrase, readonly string[]>> = {
  voicemail: [
    'Hi, you’ve reached the voicemail of Alex Morgan. Please leave a message after the tone.',
    'Hi, this is Mary. Leave a message.',
    'Please leave your name and number.',
    'The mailbox is full and cannot accept any messages at this time.',
    'Your call has been forwarded to an automated voice messaging system.',
    'Bitte hinterlassen Sie eine Nachricht nach dem Signalton.',
    'Guten Tag, Sie sind verbunden mit der Mailbox von Jens Müller.',
    'El buzón de voz está lleno.',
    'Deje su mensaje después de la señal.',
    'Vous êtes bien sur la messagerie de Paul. Laissez un message après le bip.',
    'Risponde la segreteria telefonica. Lasciate un messaggio dopo il segnale acustico.',
    'Dit is de voicemail van Jan. Spreek een bericht in na de piep.',
    'Deixe a sua mensagem após o sinal.',
    'Sua chamada está sendo encaminhada para a caixa postal.',
    'Tu poczta głosowa. Zostaw wiadomość po sygnale.',
  ],
  maybe_voicemail: [
    'He is not available right now.',
    'Would you like to leave a message?',
    'Can I leave a message for him, you ask? Of course, he is unavailable.',
    'We are closed today.',
    'Herr Meier ist gerade nicht erreichbar.',
    'No está disponible en este momento.',
    'Il n’est pas disponible.',
    'Non è al momento raggiungibile.',
    'Hij is niet bereikbaar.',
    'Ele não está disponível.',
    'Abonent jest niedostępny.',
  ],
  screening: [
    'Hi, if you record your name and reason for calling, I’ll see if this person is available.',
    'Hi, the person you’re calling is using a screening service from Google, and will get a copy of this conversation. Go ahead and say your name, and why you’re calling.',
    'May I ask who is calling and why?',
    'Nennen Sie bitte Ihren Namen und den Grund Ihres Anrufs.',
    'Diga su nombre y el motivo de su llamada.',
    'Dites votre nom et la raison de votre appel.',
    'Dica il suo nome e il motivo della chiamata.',
    'Zeg uw naam en de reden van uw oproep.',
    'Diga o seu nome e o motivo da ligação.',
    'Podaj swoje imię i powód rozmowy.',
  ],
  announcement: [
    'The number you have dialed is not in service.',
    'We’re sorry, the number you have reached has been disconnected or is no longer in service.',
    'Kein Anschluss unter dieser Nummer.',
    'El número marcado no existe.',
    'Le numéro que vous avez demandé n’est pas attribué.',
    'Il numero selezionato è inesistente.',
    'Het nummer dat u belt is niet in gebruik.',
    'O número chamado não existe.',
    'Nie ma takiego numeru.',
  ],
}

const persons = [
  '',
  'Hello?',
  'Speaking.',
  'Yes, I have a minute. What is it about?',
  'Can I call you back after the meeting?',
  'Who is calling, please?',
  'I sent you a message yesterday.',
  'The reason is that my name was wrong.',
  'Please never call me again. Take me off your list.',
  'Ja, am Apparat.',
  'Un momento, por favor.',
  'Oui, c’est moi.',
  'Tak, słucham.',
]

describe('the words of an answering party', () => {
  for (const [phrase, texts] of Object.entries(said)) {
    for (const text of texts) {
      it(`are ${phrase} in "${text}"`, () => assert.equal(readAnswer(text), phrase))
    }
  }
  for (const text of persons) {
    it(`are a person's in "${text}"`, () => assert.equal(readAnswer(text), undefined))
  }

  it('are not found in endless texts or repetitions, which are read in linear time', () => {
    // A backtracking expression would never finish on these.
    for (const text of ['number you have dialed ', 'leave a message would like to ', 'a', ' ']) {
      readAnswer(text.repeat(100_000))
    }
    assert.equal(readAnswer(`${'a '.repeat(2_000)} after the tone`), undefined)
  })
})
