/** The text of a turn whose speech an engine could not transcribe. */
export const unrecognisedText = '[unrecognised]'
